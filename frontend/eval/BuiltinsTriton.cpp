//===- BuiltinsTriton.cpp - compile-time helpers of Triton ----------------===//
#include "frontend/eval/BuiltinTables.h"
#include "frontend/eval/CheckDefinition.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;
using ast::BinaryOp;

//===----------------------------------------------------------------------===//
// Triton's types and configurations
//===----------------------------------------------------------------------===//

static Result cdiv(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("cdiv", args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  // Sizes that are formulas know themselves.
  if (evaluator.hooks && (r[0].is(PyValue::Kind::Extension) || r[1].is(PyValue::Kind::Extension)))
    if (std::optional<Result> result = evaluator.hooks->callSymbol(evaluator, "tile.cdiv", args))
      return std::move(*result);
  if (!r[0].toInt64() || !r[1].toInt64())
    return fail(
        formatted("`cdiv` needs two integers, got `{}` and `{}`", typeName(r[0]), typeName(r[1])));
  Result raised = binary(BinaryOp::Add, r[0], r[1]);
  raised = binary(BinaryOp::Sub, *raised, PyValue::integer(1));
  return binary(BinaryOp::FloorDiv, *raised, r[1]);
}

static Result nextPowerOf2(Evaluator &, const CallArgs &args) {
  ArgReader r("next_power_of_2", args, {"n"}, 1);
  if (!r)
    return r.error();
  std::optional<int64_t> n = r[0].toInt64();
  if (!n)
    return fail(formatted("`next_power_of_2` needs an integer, got `{}`", typeName(r[0])));
  if (*n <= 1)
    return PyValue::integer(*n == 1 ? 1 : 0);
  return PyValue::integerUnsigned(llvm::PowerOf2Ceil(*n));
}

/// The logarithm of a power of two.
static Result logarithmOf2(Evaluator &, const CallArgs &args) {
  ArgReader r("_log2", args, {"i"}, 1);
  if (!r)
    return r.error();
  std::optional<int64_t> n = r[0].toInt64();
  if (!n || *n <= 0)
    return fail(formatted("`_log2` needs a positive integer, got {}", repr(r[0])));
  return PyValue::integer(llvm::Log2_64(*n));
}

static Result isPowerOf2(Evaluator &, const CallArgs &args) {
  ArgReader r("_is_power_of_two", args, {"i"}, 1);
  if (!r)
    return r.error();
  std::optional<int64_t> n = r[0].toInt64();
  return PyValue::boolean(n && *n > 0 && llvm::isPowerOf2_64(*n));
}

static Result constexprBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("constexpr", args, {"value"}, 1);
  if (!r)
    return r.error();
  return r[0];
}

static Result pointerType(Evaluator &, const CallArgs &args) {
  ArgReader r("pointer_type", args, {"element_ty", "address_space", "const"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::DType))
    return fail(formatted("`pointer_type` needs a dtype, got `{}`", typeName(r[0])));
  Result isConst = truth(r.get(2));
  if (!isConst)
    return isConst;
  return PyValue::dtype(DType::pointer(r[0].asDType(), isConst->asBool()));
}

static Result blockType(Evaluator &, const CallArgs &args) {
  ArgReader r("block_type", args, {"element_ty", "shape"}, 2);
  if (!r)
    return r.error();
  llvm::SmallVector<int64_t> shape;
  for (const PyValue &dim : r[1].elements())
    shape.push_back(dim.toInt64().value_or(-1));
  if (!r[0].is(Kind::DType) || !r[1].isSequence() || llvm::is_contained(shape, -1))
    return fail("`block_type` needs a dtype and a list of integers");
  return PyValue::dtype(DType::block(r[0].asDType(), shape));
}

PyValue eval::constexprType(const PyValue &value) {
  static const std::shared_ptr<const ClassObject> type = [] {
    auto object = std::make_shared<ClassObject>();
    object->name = kConstexprType.str();
    object->isNamedTuple = true;
    object->fields = {"value"};
    return object;
  }();
  return PyValue::namedTuple(type, {value});
}

static Result constexprTypeBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("constexpr_type", args, {"value"}, 1);
  if (!r)
    return r.error();
  return constexprType(r[0]);
}

static Result dtypeBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("dtype", args, {"name"}, 1);
  if (!r)
    return r.error();
  if (r[0].is(Kind::DType))
    return r[0];
  std::optional<DType> type = r[0].isStr() ? DType::parse(r[0].asStr()) : std::nullopt;
  if (!type)
    return fail(formatted("`dtype` needs a type's name such as \"fp32\", got {}", repr(r[0])),
                "ValueError");
  return PyValue::dtype(*type);
}

static Result intType(Evaluator &, const CallArgs &args) {
  ArgReader r("get_int_dtype", args, {"bitwidth", "signed"}, 2);
  if (!r)
    return r.error();
  Result isSigned = truth(r[1]);
  if (!isSigned)
    return isSigned;
  std::string name = std::string(isSigned->asBool() ? "int" : "uint") + str(r[0]);
  std::optional<DType> type = DType::parse(name == "uint1" ? "int1" : name);
  if (!type)
    return fail(formatted("there is no integer type of {} bits", str(r[0])), "ValueError");
  return PyValue::dtype(*type);
}

static Result config(Evaluator &, const CallArgs &args) {
  static const std::shared_ptr<const ClassObject> type = [] {
    auto object = std::make_shared<ClassObject>();
    object->name = "triton.Config";
    object->isNamedTuple = true;
    object->fields = {"kwargs",  "num_warps", "num_stages", "num_ctas",
                      "maxnreg", "pre_hook",  "ir_override"};
    return object;
  }();
  CallArgs own = args;
  llvm::erase_if(own.keywords,
                 [](const auto &keyword) { return isKeywordOfOtherConfigs(keyword.first); });
  ArgReader r(
      "triton.Config", own,
      {"kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook", "ir_override"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::Dict))
    return fail(
        formatted("`triton.Config` needs a dict of constexprs first, got `{}`", typeName(r[0])));
  int64_t defaults[] = {4, 3, 1};
  std::vector<PyValue> elements = {r[0]};
  for (size_t i = 1; i < type->fields.size(); ++i)
    elements.push_back(r.has(i) ? r[i] : i <= 3 ? PyValue::integer(defaults[i - 1]) : PyValue());
  return PyValue::namedTuple(type, std::move(elements));
}

/// The type of descriptors that the host passes to kernels.
static const std::shared_ptr<const ClassObject> &tensorDescriptorType() {
  static const std::shared_ptr<const ClassObject> type = [] {
    auto object = std::make_shared<ClassObject>();
    object->name = "TensorDescriptor";
    object->isNamedTuple = true;
    object->fields = {"base", "shape", "strides", "block_shape", "padding", "round_f32_to_tf32"};
    return object;
  }();
  return type;
}

Result eval::makeTensorDescriptor(const CallArgs &args) {
  ArgReader r("TensorDescriptor", args,
              {"base", "shape", "strides", "block_shape", "padding", "round_f32_to_tf32"}, 4);
  if (!r)
    return r.error();
  size_t rank = r[1].elements().size();
  if (!r[1].isSequence() || !r[2].isSequence() || !r[3].isSequence() || rank == 0 || rank > 5 ||
      r[2].elements().size() != rank || r[3].elements().size() != rank)
    return fail("`TensorDescriptor` needs a shape, strides and a block shape of 1 to 5 "
                "dimensions each");
  if (r[2].elements().back().toInt64() != 1)
    return fail(formatted("the last stride of a `TensorDescriptor` must be 1, got {}",
                          repr(r[2].elements().back())));
  PyValue padding = r.has(4) ? r[4] : PyValue::string("zero");
  if (!padding.isStr() || (padding.asStr() != "zero" && padding.asStr() != "nan"))
    return fail(formatted("`padding` of a `TensorDescriptor` is \"zero\" or \"nan\", got {}",
                          repr(padding)));
  return PyValue::namedTuple(tensorDescriptorType(), {r[0], r[1], r[2], r[3], padding,
                                                      r.has(5) ? r[5] : PyValue::boolean(false)});
}

static Result tensorDescriptor(Evaluator &, const CallArgs &args) {
  return makeTensorDescriptor(args);
}

static Result tensorDescriptorFrom(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("TensorDescriptor.from_tensor", args, {"tensor", "block_shape", "padding"}, 2);
  if (!r)
    return r.error();
  Result shape = attribute(r[0], "shape");
  if (!shape)
    return shape;
  Result method = attribute(r[0], "stride");
  if (!method)
    return method;
  Result strides = evaluator.call(*method, CallArgs());
  if (!strides)
    return strides;
  CallArgs all;
  all.positional = {r[0], *shape, *strides, r[1]};
  if (r.has(2))
    all.positional.push_back(r[2]);
  return tensorDescriptor(evaluator, all);
}

static Result jit(Evaluator &, const CallArgs &args) {
  ArgReader r("triton.jit", args, {"fn"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::Function))
    return fail(formatted("`triton.jit` needs a function, got `{}`", typeName(r[0])));
  auto function = std::make_shared<FunctionObject>(r[0].asFunction());
  function->isJit = true;
  return PyValue::function(std::move(function));
}

static Result aggregate(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("triton.aggregate", args, {"cls"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::Class))
    return fail(formatted("`triton.aggregate` needs a class, got `{}`", typeName(r[0])));
  return makeAggregate(evaluator, *r[0].asClass());
}

static Result namedTupleFactory(Evaluator &, const CallArgs &args) {
  ArgReader r("namedtuple", args, {"typename", "field_names", "defaults"}, 2);
  if (!r)
    return r.error();
  auto type = std::make_shared<ClassObject>();
  type->isNamedTuple = true;
  type->name = str(r[0]);
  if (r[1].isStr()) {
    std::string text = r[1].asStr();
    std::replace(text.begin(), text.end(), ',', ' ');
    llvm::SmallVector<StringRef> names;
    llvm::SplitString(text, names);
    for (StringRef name : names)
      type->fields.push_back(name.str());
  } else {
    for (const PyValue &name : r[1].elements())
      type->fields.push_back(str(name));
  }
  if (r.has(2))
    type->defaults = r[2].elements().vec();
  if (type->defaults.size() > type->fields.size())
    return fail("`namedtuple` has more defaults than fields");
  return PyValue::classType(std::move(type));
}

llvm::ArrayRef<BuiltinEntry> eval::tritonBuiltins() {
  static const BuiltinEntry table[] = {
      {"triton.cdiv", cdiv},
      {"tl.cdiv", cdiv},
      {"tile.cdiv", cdiv},
      {"triton.next_power_of_2", nextPowerOf2},
      {"tl.next_power_of_2", nextPowerOf2},
      {"tl._log2", logarithmOf2},
      {"tl._is_power_of_two", isPowerOf2},
      {"triton.Config", config},
      {"triton.jit", jit},
      {"triton.aggregate", aggregate},
      {"triton.tools.TensorDescriptor", tensorDescriptor},
      {"triton.tools.TensorDescriptor.from_tensor", tensorDescriptorFrom},
      {"tl.constexpr", constexprBuiltin},
      {"tl._unwrap_if_constexpr", constexprBuiltin}, // generated code asks for it
      {"tl.pointer_type", pointerType},
      {"tl.block_type", blockType},
      {"tl.constexpr_type", constexprTypeBuiltin},
      {"tl.dtype", dtypeBuiltin},
      {"tl.get_int_dtype", intType},
      {"collections.namedtuple", namedTupleFactory},
  };
  return table;
}
