//===- Trace.cpp - a function of whole tensors becomes a graph ------------===//
#include "frontend/tensors/Trace.h"
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Place.h"
#include "frontend/eval/WorkMeter.h"
#include "frontend/tensors/Tracer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::tensors;

void tensors::registerDialects(MLIRContext &context) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
}

Type tensors::elementType(MLIRContext *context, const DType &type) {
  switch (type.kind()) {
  case DType::Kind::Float16:
    return Float16Type::get(context);
  case DType::Kind::BFloat16:
    return BFloat16Type::get(context);
  case DType::Kind::Float32:
    return Float32Type::get(context);
  case DType::Kind::Float64:
    return Float64Type::get(context);
  case DType::Kind::Float8E4NV:
    return Float8E4M3FNType::get(context);
  case DType::Kind::Float8E5:
    return Float8E5M2Type::get(context);
  default:
    break;
  }
  if (!type.isInt())
    return {};
  return IntegerType::get(context, type.bitWidth(),
                          type.isBool() || type.isSigned() ? IntegerType::Signless
                                                           : IntegerType::Unsigned);
}

DType tensors::dtypeOf(Type element) {
  return *DType::parse(element.isInteger(1) ? "int1" : graph::spelledType(element));
}

Location Tracer::here() {
  eval::Place place = eval::currentPlace();
  if (!place.file)
    return builder.getUnknownLoc();
  frontend::SourceFile::LineColumn at = place.file->locate(place.range.begin);
  return FileLineColLoc::get(builder.getStringAttr(place.file->name()), at.line, at.column);
}

//===----------------------------------------------------------------------===//
// Parameters and results
//===----------------------------------------------------------------------===//

/// The parameters as values of the body; null, and `error`, if one cannot be.
static func::FuncOp buildParameters(Tracer &tracer, const eval::FunctionObject &function,
                                    const Signature &signature, ArrayRef<Argument> arguments,
                                    ModuleOp module, std::vector<PyValue> &values,
                                    std::unique_ptr<EvalError> &error) {
  OpBuilder &b = tracer.builder;
  const frontend::SourceFile &file = function.module->source();
  auto located = [&](frontend::SourceRange range) -> Location {
    frontend::SourceFile::LineColumn at = file.locate(range.begin);
    return FileLineColLoc::get(b.getStringAttr(file.name()), at.line, at.column);
  };
  b.setInsertionPointToEnd(module.getBody());
  auto op = func::FuncOp::create(b, located(function.range()), function.name(),
                                 b.getFunctionType({}, {}));
  Block *body = op.addEntryBlock();
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Type> types;
  for (auto [parameter, argument] : llvm::zip_equal(signature.parameters, arguments)) {
    if (parameter.kind == Parameter::Kind::Constant) {
      values.push_back(argument.constant);
      continue;
    }
    bool isNumber = parameter.kind == Parameter::Kind::Number;
    DType type = isNumber ? *parameter.element : argument.element;
    Type element = elementType(b.getContext(), type);
    if (!element) {
      error = eval::unsupported(
          formatted("`{}` has elements of type {}, which functions of whole tensors do not take",
                    parameter.name, type));
      error->diagnostic.file = &file;
      error->diagnostic.range = parameter.range;
      return {};
    }
    types.push_back(GraphTensorType::of(b.getContext(), parameter.sizes, element));
    NamedAttrList list;
    list.append(kNameAttr, b.getStringAttr(parameter.name));
    if (isNumber)
      list.append(kNumberAttr, b.getUnitAttr());
    attributes.push_back(list.getDictionary(b.getContext()));
    Value value = body->addArgument(types.back(), located(parameter.range));
    values.push_back(tracer.wrap(value, isNumber, parameter.name));
    if (!isNumber)
      tracer.parameters[values.back().dynExtension<TensorValue>()] = types.size() - 1;
  }
  op.setFunctionType(b.getFunctionType(types, {}));
  op.setAllArgAttrs(attributes);
  b.setInsertionPointToEnd(body);
  return op;
}

static std::unique_ptr<EvalError> buildReturn(Tracer &tracer, func::FuncOp op,
                                              const eval::FunctionObject &function,
                                              const PyValue &result) {
  OpBuilder &b = tracer.builder;
  SmallVector<PyValue> results = {result};
  if (result.isNone() && !tracer.updates.empty()) {
    results.clear();
    op->setAttr(kNoneAttr, b.getUnitAttr());
  } else if (result.isSequence()) {
    results.assign(result.elements().begin(), result.elements().end());
    op->setAttr(kTupleAttr, b.getUnitAttr());
  }
  SmallVector<Value> values;
  for (const PyValue &value : results) {
    Operand operand;
    if (!value.dynExtension<TensorValue>() || tracer.operand("return", value, operand))
      return fail(formatted("`{}` must return a tensor or several, got {}", function.name(),
                            eval::repr(value)));
    values.push_back(operand.value);
  }
  SmallVector<int64_t> updates;
  for (auto &[parameter, value] : tracer.updated()) {
    updates.push_back(parameter);
    values.push_back(value);
  }
  if (!updates.empty())
    op->setAttr(graph::kUpdatesAttr, b.getDenseI64ArrayAttr(updates));
  if (values.empty())
    return fail(formatted("`{}` returns nothing: there is nothing to compute", function.name()));
  func::ReturnOp::create(b, op.getLoc(), values);
  op.setFunctionType(b.getFunctionType(op.getArgumentTypes(), ValueRange(values).getTypes()));
  return tracer.checkUpdates();
}

/// Tensors, not numbers: `a += 1` of a number makes another one.
static std::vector<PyValue> tensorsAmong(ArrayRef<PyValue> values) {
  std::vector<PyValue> out;
  for (const PyValue &value : values)
    if (auto *tensor = value.dynExtension<TensorValue>(); tensor && !tensor->isWeak)
      out.push_back(value);
  return out;
}

OwningOpRef<ModuleOp> tensors::trace(MLIRContext &context, eval::Evaluator &evaluator,
                                     const PyValue &callee, const Signature &signature,
                                     ArrayRef<Argument> arguments,
                                     std::vector<HandKernel> &launches,
                                     std::unique_ptr<EvalError> &error) {
  const eval::FunctionObject &function = callee.asFunction();
  Tracer tracer(context, evaluator);
  OwningOpRef<ModuleOp> module = ModuleOp::create(tracer.builder, tracer.builder.getUnknownLoc());
  std::vector<PyValue> values;
  func::FuncOp op = buildParameters(tracer, function, signature, arguments, *module, values, error);
  if (!op)
    return {};
  eval::EvaluatorHooks *before = std::exchange(evaluator.hooks, &tracer);
  // The tracer leaves calls of such functions to the evaluator, which runs their bodies.
  eval::InPlace inPlace(tensorsAmong(values));
  Result result = evaluator.call(callee, eval::CallArgs{std::move(values), {}});
  evaluator.hooks = before;
  launches = std::move(tracer.launches);
  error = result ? buildReturn(tracer, op, function, *result) : result.takeError();
  if (tracer.refusal)
    error = std::move(tracer.refusal);
  SmallVector<StringRef> needs;
  std::vector<std::string> formulas;
  formulas.reserve(tracer.requirements.size());
  for (auto &[size, otherwise] : tracer.requirements) {
    formulas.push_back(size.str());
    needs.append({formulas.back(), otherwise});
  }
  if (!needs.empty())
    op->setAttr(kRequiresAttr, tracer.builder.getStrArrayAttr(needs));
  if (!error)
    return module;
  if (!error->diagnostic.file) {
    error->diagnostic.file = &function.module->source();
    error->diagnostic.range = function.range();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Whether a number in it went beyond 62 bits (ir/graph/Size.cpp).
static bool isBeyond(const Size &size) { return size.constant() == INT64_MIN; }

/// The first reason stays. The evaluation ends: the loop here may have no end.
void Tracer::refuse(std::string message, StringRef kind) {
  if (refusal)
    return;
  refusal = fail(std::move(message), kind.str());
  eval::Place place = eval::currentPlace();
  refusal->diagnostic.file = place.file;
  refusal->diagnostic.range = place.range;
  eval::Work::spend(UINT64_MAX / 4);
}

void Tracer::checkSizes(ArrayRef<Size> sizes) {
  if (llvm::any_of(sizes, isBeyond))
    refuse("a size of 2^62 and more, or whose formula has more than 1024 terms or 64 factors: no "
           "tensor is as large",
           "LimitError");
}

std::unique_ptr<EvalError> tensors::checkRank(size_t rank) {
  if (rank <= kMostDimensions)
    return nullptr;
  return fail(
      formatted("a tensor has at most {} dimensions, and this one {}", kMostDimensions, rank),
      "ValueError");
}

/// More operations than functions that people write have: what looks for fusions takes time by
/// their number, and stack by the longest chain.
static constexpr unsigned kMostOperations = 2048;

std::unique_ptr<EvalError> Tracer::checkRoom(uint64_t more) {
  if (more > kMostOperations || operations + more > kMostOperations)
    refuse(
        formatted("this function has more than {} operations here: use fewer turns of loops that "
                  "are unrolled, shorter lists of tensors, or several functions",
                  kMostOperations),
        "LimitError");
  return refusal ? std::make_unique<EvalError>(*refusal) : nullptr;
}

PyValue Tracer::wrap(Value value, bool isWeak, std::string name) {
  ++operations;
  (void)checkRoom();
  if (auto type = dyn_cast<GraphTensorType>(value.getType()))
    checkSizes(type.sizes());
  return PyValue::extension(std::make_shared<TensorValue>(*this, value, std::move(name), isWeak));
}

PyValue Tracer::sizeValue(const Size &size) {
  checkSizes(size);
  if (std::optional<int64_t> constant = size.constant())
    return PyValue::integer(*constant);
  return PyValue::extension(std::make_shared<SizeValue>(*this, size));
}

Value Tracer::constant(double number) {
  auto type = GraphTensorType::of(builder.getContext(), {}, builder.getF32Type());
  return graph::ConstantOp::create(builder, here(), type, builder.getF64FloatAttr(number));
}

Value Tracer::constant(int64_t number) {
  bool isWide = number != int32_t(number);
  auto type =
      GraphTensorType::of(builder.getContext(), {}, builder.getIntegerType(isWide ? 64 : 32));
  return graph::ConstantOp::create(builder, here(), type, builder.getI64IntegerAttr(number));
}

std::unique_ptr<EvalError> Tracer::operand(StringRef what, const PyValue &value, Operand &out) {
  if (refusal)
    return checkRoom();
  if (auto *tensor = value.dynExtension<TensorValue>()) {
    if (tensor->isUnwritten)
      return fail(formatted("`{}` reads a tensor of `tile.empty` before a kernel has written it; "
                            "`tile.zeros` has elements",
                            what));
    out = {tensor->value, tensor->name, tensor->isWeak};
    return nullptr;
  }
  if (auto *size = value.dynExtension<SizeValue>()) {
    auto type = GraphTensorType::of(builder.getContext(), {}, builder.getI64Type());
    out = {graph::SizeOp::create(builder, here(), type, size->size.str()), size->size.str(), true};
    return nullptr;
  }
  if (value.is(PyValue::Kind::Float)) {
    out = {constant(value.asFloat()), "", true};
    return nullptr;
  }
  if (value.is(PyValue::Kind::Bool)) {
    auto type = GraphTensorType::of(builder.getContext(), {}, builder.getI1Type());
    out = {
        graph::ConstantOp::create(builder, here(), type, builder.getI64IntegerAttr(value.asBool())),
        "", true};
    return nullptr;
  }
  if (std::optional<int64_t> number = value.toInt64()) {
    out = {constant(*number), "", true};
    return nullptr;
  }
  return fail(formatted("`{}` needs a tensor or a number, got {}", what, eval::repr(value)));
}

std::unique_ptr<EvalError> Tracer::operandAndRest(StringRef function, const CallArgs &args,
                                                  Operand &out, std::vector<PyValue> &rest) {
  if (args.positional.empty())
    return fail(formatted("`{}` needs a tensor", function));
  rest.assign(args.positional.begin() + 1, args.positional.end());
  return operand(function, args.positional[0], out);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// `x` of shape (M, N)
static std::string describe(const Operand &x) {
  return formatted("{} of shape {}", x.name.empty() ? "a value" : formatted("`{}`", x.name),
                   graph::shapeText(x.type().sizes()));
}

/// The type that the operands have together. Numbers take the tensors' type, unless they
/// are floats and the tensors are not.
static Type commonType(ArrayRef<Operand> operands) {
  Type strong, weak;
  for (const Operand &x : operands) {
    Type &side = x.isWeak ? weak : strong;
    side = side ? graph::promoteTypes(side, x.type().getElement()) : x.type().getElement();
  }
  if (!strong || !weak)
    return strong ? strong : weak;
  bool widens = (isa<FloatType>(weak) && !isa<FloatType>(strong)) ||
                (strong.isInteger(1) && !weak.isInteger(1));
  return widens ? weak : strong;
}

/// Whether such numbers have no sign.
static bool isNatural(Type element) { return element.isUnsignedInteger() || element.isInteger(1); }

Result Tracer::map(MapKind kind, ArrayRef<PyValue> values) {
  return map(kind, graph::stringifyMapKind(kind), values);
}

Value Tracer::inDoubles(Value value) {
  auto type = cast<GraphTensorType>(value.getType());
  if (!type.getElement().isF32())
    return value;
  if (Value made = doubles.lookup(value))
    return made;
  auto wide = GraphTensorType::of(builder.getContext(), type.sizes(), builder.getF64Type());
  if (auto number = value.getDefiningOp<graph::ConstantOp>())
    return doubles[value] =
               graph::ConstantOp::create(builder, number.getLoc(), wide, number.getValue());
  auto map = value.getDefiningOp<graph::MapOp>();
  if (!map)
    return value;
  SmallVector<Value, 3> inputs;
  for (Value input : map->getOperands())
    inputs.push_back(inDoubles(input));
  return doubles[value] = graph::MapOp::create(builder, map.getLoc(), wide, map.getKind(), inputs);
}

/// Whether a number of the source can be an element. Of bits it may be in either sign: the mask
/// 0xff000000 has 32 of them.
static bool fitsElement(int64_t number, Type element, MapKind kind) {
  auto type = dyn_cast<IntegerType>(element);
  unsigned bits = type ? type.getWidth() : 64;
  if (bits == 1 || bits >= 64)
    return true;
  bool isBits = kind == MapKind::bit_and || kind == MapKind::bit_or || kind == MapKind::bit_xor ||
                kind == MapKind::philox;
  return ((isBits || !type.isUnsigned()) && llvm::isIntN(bits, number)) ||
         ((isBits || type.isUnsigned()) && llvm::isUIntN(bits, number));
}

Result Tracer::map(MapKind kind, StringRef what, ArrayRef<PyValue> values) {
  SmallVector<Operand, 3> operands(values.size());
  Sizes shape;
  for (auto [value, x] : llvm::zip(values, operands))
    if (auto error = operand(what, value, x))
      return error;
  for (auto [i, x] : llvm::enumerate(operands)) {
    unsigned dim;
    Sizes own = x.type().sizes();
    std::optional<Sizes> both = graph::broadcast(shape, own, dim);
    if (!both) {
      const Operand &sofar = operands[i ? i - 1 : 0];
      std::string left = i == 1 ? describe(sofar) : formatted("shape {}", graph::shapeText(shape));
      return fail(formatted("`{}` of {} and {}: dimension -{} is `{}` in one and `{}` in the "
                            "other; they must be the same, or one of them 1",
                            what, left, describe(x), dim + 1, shape[shape.size() - 1 - dim],
                            own[own.size() - 1 - dim]),
                  "ValueError");
    }
    shape = *both;
  }
  bool isSelect = kind == MapKind::select;
  Type element = commonType(ArrayRef(operands).drop_front(isSelect));
  if (graph::needsFloat(kind) && !isa<FloatType>(element))
    element = builder.getF32Type();
  if (graph::isShift(kind)) {
    if (element.isInteger(1))
      return fail(formatted("`{}` needs integers, got bools", what));
    // Of a number with a sign the sign stays, whatever the places are counted in.
    if (element.isUnsignedInteger() && !isNatural(operands[0].type().getElement()))
      element = builder.getIntegerType(element.getIntOrFloatBitWidth());
  }
  for (Operand &x : operands)
    if (x.isWeak && element.isF64())
      x.value = inDoubles(x.value);
  for (const PyValue &value : values)
    if (std::optional<int64_t> number = value.toInt64();
        number && !fitsElement(*number, element, kind))
      return fail(
          formatted("`{}`: {} does not fit the elements of {} bits that it is computed with", what,
                    *number, element.getIntOrFloatBitWidth()));
  if (graph::givesBool(kind))
    element = builder.getI1Type();
  if (kind == MapKind::philox)
    element = builder.getF32Type();
  bool allWeak = llvm::all_of(operands, [](auto &x) { return x.isWeak; });
  SmallVector<Value, 3> inputs;
  for (Operand &x : operands)
    inputs.push_back(x.value);
  auto type = GraphTensorType::of(builder.getContext(), shape, element);
  return wrap(graph::MapOp::create(builder, here(), type, kind, inputs), allWeak);
}

Value Tracer::indices(const Size &size) {
  auto type = GraphTensorType::of(builder.getContext(), {size}, builder.getI32Type());
  return graph::IndexOp::create(builder, here(), type);
}

Result Tracer::gather(Value source, ArrayRef<Value> indices, bool guarded) {
  if (refusal)
    return checkRoom();
  Sizes shape;
  for (Value index : indices) {
    unsigned dim;
    std::optional<Sizes> both =
        graph::broadcast(shape, cast<GraphTensorType>(index.getType()).sizes(), dim);
    if (!both)
      return fail("the indices do not broadcast", "ValueError");
    shape = *both;
  }
  Type element = cast<GraphTensorType>(source.getType()).getElement();
  auto type = GraphTensorType::of(builder.getContext(), shape, element);
  return wrap(graph::GatherOp::create(builder, here(), type, source, indices, guarded));
}

Result Tracer::cast(const PyValue &value, Type element) {
  Operand x;
  if (auto error = operand("to", value, x))
    return error;
  auto type = GraphTensorType::of(builder.getContext(), x.type().sizes(), element);
  if (x.isWeak)
    if (Value wide = inDoubles(x.value); wide.getType() == type)
      return wrap(wide);
  return wrap(graph::CastOp::create(builder, here(), type, x.value));
}

Result Tracer::reduce(ReduceKind kind, const Operand &x, ArrayRef<int64_t> axes, bool keepdim) {
  Sizes sizes = x.type().sizes(), left;
  SmallVector<int64_t> dims;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    bool reduced = llvm::is_contained(axes, int64_t(i));
    if (reduced && keepdim)
      dims.push_back(-1);
    if (reduced)
      continue;
    dims.push_back(left.size());
    left.push_back(size);
  }
  Type element = x.type().getElement();
  bool adds = kind == ReduceKind::sum || kind == ReduceKind::prod;
  Value src = x.value;
  if (adds && isa<IntegerType>(element) && element.getIntOrFloatBitWidth() < 64) {
    element = builder.getI64Type(); // as references do
    src = graph::CastOp::create(builder, here(),
                                GraphTensorType::of(builder.getContext(), sizes, element), src);
  }
  auto type = GraphTensorType::of(builder.getContext(), left, element);
  Value result = graph::ReduceOp::create(builder, here(), type, kind, src, axes);
  return keepdim ? rearrange({result, "", false}, dims) : Result(wrap(result));
}

Result Tracer::rearrange(const Operand &x, ArrayRef<int64_t> dims) {
  if (refusal)
    return checkRoom();
  if (auto error = checkRank(dims.size()))
    return error;
  Sizes sizes = x.type().sizes(), shape;
  for (int64_t dim : dims)
    shape.push_back(dim < 0 ? Size(1) : sizes[dim]);
  auto type = GraphTensorType::of(builder.getContext(), shape, x.type().getElement());
  return wrap(graph::RearrangeOp::create(builder, here(), type, x.value, dims));
}
