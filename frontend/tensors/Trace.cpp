//===- Trace.cpp - a function of whole tensors becomes a graph ------------===//
#include "frontend/tensors/Trace.h"
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Place.h"
#include "frontend/eval/WorkMeter.h"
#include "frontend/tensors/Lists.h"
#include "frontend/tensors/Masked.h"
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
    list.append(graph::kNameAttr, b.getStringAttr(parameter.name));
    if (isNumber)
      list.append(graph::kNumberAttr, b.getUnitAttr());
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

/// What a function may return in the place of what is no tensor.
static StringRef insteadOf(const PyValue &value) {
  if (value.isSequence())
    return " among them: `return a, *b` takes `b` apart";
  if (value.toDouble())
    return ", of which `tile.full(shape, value)` makes one";
  return "";
}

static std::unique_ptr<EvalError> buildReturn(Tracer &tracer, func::FuncOp op,
                                              const eval::FunctionObject &function,
                                              const PyValue &result) {
  OpBuilder &b = tracer.builder;
  SmallVector<PyValue> results = {result};
  if (result.isNone() && !tracer.updates.empty()) {
    results.clear();
    op->setAttr(graph::kNoneAttr, b.getUnitAttr());
  } else if (result.isSequence()) {
    results.assign(result.elements().begin(), result.elements().end());
    op->setAttr(graph::kTupleAttr, b.getUnitAttr());
  }
  SmallVector<Value> values;
  for (const PyValue &value : results) {
    Operand operand;
    if (!value.dynExtension<TensorValue>() || tracer.operand("return", value, operand))
      return fail(formatted("`{}` must return a tensor or several, got {}{}", function.name(),
                            eval::repr(value), insteadOf(value)));
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
  if (auto aliased = tracer.checkAliases())
    return aliased;
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
  Tracer tracer(context, evaluator, function.module->owner());
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
    op->setAttr(graph::kRequiresAttr, tracer.builder.getStrArrayAttr(needs));
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
  if (value.dynExtension<MaskedValue>())
    return hasNoShape();
  if (value.isSequence()) {
    Result listed = ofList(*this, value, {});
    return listed ? operand(what, *listed, out) : listed.takeError();
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
