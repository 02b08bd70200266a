//===- BuiltinsCreation.cpp - program ids, ranges, constants, casts -------===//
#include "frontend/specialize/Builtins.h"
#include "text/Format.h"
#include <cmath>

using namespace mlir;

namespace tile::specialize {

template <typename Op> static PyValue programAxis(BuiltinCall &c) {
  std::optional<int64_t> axis = c.integer(0);
  if (!axis)
    return PoisonValue::get();
  if (*axis < 0 || *axis > 2)
    return c.fail(formatted("`axis` must be 0, 1 or 2, got {}", *axis));
  Type type = c.s.irType(Kind::Int32);
  IntegerAttr attr = c.s.builder.getI32IntegerAttr(*axis);
  return c.s.wrap({c.s.create<Op>(type, attr), DType(Kind::Int32)});
}

static PyValue arange(BuiltinCall &c) {
  std::optional<int64_t> start = c.integer(0);
  std::optional<int64_t> end = c.has(1) ? c.integer(1) : start;
  if (!start || !end)
    return PoisonValue::get();
  if (!c.has(1))
    start = 0;
  if (*end <= *start)
    return c.fail(formatted("`end` ({}) must be greater than `start` ({})", *end, *start));
  if (!llvm::isInt<32>(*start) || !llvm::isInt<32>(*end))
    return c.fail("the bounds must fit into 32 bits");
  std::string problem;
  int64_t length = *end - *start;
  if (!checkShape({length}, problem))
    return c.fail(problem);
  Type type = c.s.irType(Kind::Int32, {length});
  Builder &b = c.s.builder;
  Value range =
      c.s.create<MakeRangeOp>(type, b.getI32IntegerAttr(*start), b.getI32IntegerAttr(*end));
  return c.s.wrap({range, DType(Kind::Int32)});
}

static PyValue fillShape(BuiltinCall &c, const PyValue &value, ArrayRef<int64_t> shape,
                         std::optional<DType> type) {
  if (const Tensor *t = tensorIn(value)) {
    if (t->isBlock())
      return c.fail(formatted("the value must be a scalar, got {}", describe(value)));
    return c.s.wrap(c.s.splat(type ? c.s.cast(*t, *type) : *t, shape));
  }
  if (!value.isNumber())
    return c.fail(formatted("the value must be a number, got {}", describe(value)));
  if (!type)
    return c.fail("`dtype` is needed for a compile-time value");
  return c.s.wrap(c.s.constant(value, *type, shape));
}

static PyValue full(BuiltinCall &c) {
  auto shape = c.shape(0);
  std::optional<DType> type;
  if (c.has(2) && !(type = c.dtype(2)))
    return PoisonValue::get();
  if (type && type->isInt() && c[1].is(PyValue::Kind::Float) && !std::isfinite(c[1].asFloat()))
    return c.fail(formatted("`value` is {}, which {} cannot hold", eval::repr(c[1]), type->str()));
  return shape ? fillShape(c, c[1], *shape, type) : PoisonValue::get();
}

static PyValue zeros(BuiltinCall &c) {
  auto shape = c.shape(0);
  auto type = c.dtype(1);
  return shape && type ? fillShape(c, PyValue::integer(0), *shape, *type) : PoisonValue::get();
}

static PyValue fillLike(BuiltinCall &c, const PyValue &value, unsigned typeIndex) {
  Tensor like = c.tensor(0);
  std::optional<DType> type = like ? std::optional(like.type) : std::nullopt;
  if (like && c.has(typeIndex))
    type = c.dtype(typeIndex);
  return type ? fillShape(c, value, like.shape(), *type) : PoisonValue::get();
}
static PyValue zerosLike(BuiltinCall &c) { return fillLike(c, PyValue::integer(0), 1); }
static PyValue fullLike(BuiltinCall &c) { return fillLike(c, c[1], 2); }

static PyValue castValue(BuiltinCall &c) {
  auto type = c.dtype(1);
  auto rounding = c.string(2);
  if (!type || !rounding)
    return PoisonValue::get();
  bool isBitcast = c.flag(3);
  if (!rounding->empty() && *rounding != "rtne" && *rounding != "rtz")
    return c.fail(
        formatted("`fp_downcast_rounding` must be \"rtne\" or \"rtz\", got \"{}\"", *rounding));
  Tensor x = c.tensor(0);
  if (!x)
    return PoisonValue::get();
  bool narrows = x.type.isFloating() && type->isFloating() && type->bitWidth() < x.type.bitWidth();
  if (!rounding->empty() && !narrows && x.type != *type)
    return c.fail(formatted(
        "`fp_downcast_rounding` only applies where a float is narrowed, not from {} to {}",
        x.type.str(), type->str()));
  if (*rounding == "rtz" && type->kind() == DType::Kind::Float8E4NV)
    return c.fail(formatted("conversions to {} only round to nearest (\"rtne\"); fp16, bf16 and "
                            "fp8e5 have \"rtz\", too",
                            type->str()));
  // A literal takes its new type at once.
  if (!tensorIn(c[0]) && !isBitcast && !type->isPointer())
    return c.s.wrap(c.s.constant(c[0], *type));
  if (isBitcast)
    return c.s.wrap(c.s.bitcast(x, *type));
  return c.s.wrap(c.s.cast(x, *type, *rounding == "rtz"));
}

static PyValue toTensor(BuiltinCall &c) { return c.s.wrap(c.tensor(0)); }

/// float(x) and int(x) of a run-time scalar.
static PyValue castTo(BuiltinCall &c, Kind kind) {
  Tensor x = c.tensor(0);
  return c.s.wrap(c.s.cast(x, kind));
}
static PyValue floatOf(BuiltinCall &c) { return castTo(c, Kind::Float32); }
static PyValue intOf(BuiltinCall &c) { return castTo(c, Kind::Int32); }

static PyValue lengthOf(BuiltinCall &c) {
  const Tensor *t = tensorIn(c[0]);
  if (!t)
    return c.s.take(eval::length(c[0]));
  if (!t->isBlock())
    return c.fail("a scalar tensor has no length");
  return PyValue::integer(t->shape()[0]);
}

/// isinstance(x, tl.tensor) and the like; everything else is the evaluator's.
static PyValue isInstance(BuiltinCall &c) {
  auto matches = [&](const PyValue &type) {
    bool isTensor = tensorIn(c[0]) != nullptr;
    if (type.isSymbol("tl.tensor"))
      return isTensor;
    if (isTensor)
      return false;
    eval::CallArgs args;
    args.positional = {c[0], type};
    PyValue result = c.s.take(c.s.program.evaluator().call(PyValue::symbol("isinstance"), args));
    return result.is(PyValue::Kind::Bool) && result.asBool();
  };
  if (!c[1].is(PyValue::Kind::Tuple))
    return PyValue::boolean(matches(c[1]));
  return PyValue::boolean(llvm::any_of(c[1].elements(), matches));
}

void addCreationBuiltins(BuiltinTable &t) {
  t.add("tl.program_id", "axis", programAxis<ProgramIdOp>);
  t.add("tl.num_programs", "axis", programAxis<NumProgramsOp>);
  t.add("tl.arange", "start, end=", arange);
  t.add("tl.full", "shape, value, dtype=", full);
  t.add("tl.zeros", "shape, dtype", zeros);
  t.add("tl.zeros_like", "input, dtype=", zerosLike);
  t.add("tl.full_like", "input, value, dtype=", fullLike);
  t.add("tl.cast", "input, dtype, fp_downcast_rounding=, bitcast=", castValue);
  for (const char *name :
       {"tl.extra.cuda.convert_custom_float8_sm70", "tl.extra.cuda.convert_custom_float8_sm80"})
    t.add(name, "arg, dst_ty, fp_downcast_rounding=, bitcast=", castValue);
  t.add("tl.to_tensor", "x", toTensor);
  t.add("float", "x", floatOf);
  t.add("int", "x", intOf);
  t.add("len", "x", lengthOf);
  t.add("isinstance", "x, type", isInstance);
}

} // namespace tile::specialize
