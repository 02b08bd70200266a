//===- BuiltinsMath.cpp - elementwise functions ---------------------------===//
#include "frontend/specialize/Builtins.h"
#include "frontend/specialize/MathOps.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// One float operand
//===----------------------------------------------------------------------===//

Tensor fp32Or64(BuiltinCall &c, unsigned i) {
  Tensor x = c.tensor(i);
  if (!x || x.type.kind() == Kind::Float32 || x.type.kind() == Kind::Float64)
    return x;
  return c.poison(
      formatted("{} is {}, but only fp32 and fp64 are possible: convert with `.to(tl.float32)`",
                c.parameter(i), describe(x.type, x.shape())));
}

static PyValue sqrtRn(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  return x ? c.s.wrap({c.s.create<SqrtRnOp>(x.value), x.type}) : PoisonValue::get();
}

/// The absolute value; unsigned integers and bools are their own.
PyValue absolute(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  if (!x || x.type.isUnsigned())
    return c.s.wrap(x);
  if (x.type.isPointer())
    return c.fail("not defined for pointers");
  if (x.type.isFp8()) {
    Tensor bits = c.s.bitcast(x, Kind::UInt8);
    Tensor mask = c.s.intConstant(0x7f, Kind::UInt8, bits.shape());
    return c.s.wrap(c.s.bitcast(c.s.arithmetic(BinaryOp::And, bits, mask), x.type));
  }
  Value result =
      x.type.isFloating() ? c.s.create<math::AbsFOp>(x.value) : c.s.create<math::AbsIOp>(x.value);
  return c.s.wrap({result, x.type});
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

static std::optional<bool> propagatesNan(BuiltinCall &c, unsigned i) {
  if (!c.has(i))
    return false;
  if (c[i].isSymbol("tl.PropagateNan.ALL"))
    return true;
  if (c[i].isSymbol("tl.PropagateNan.NONE"))
    return false;
  c.fail(formatted("{} must be `tl.PropagateNan.ALL` or `tl.PropagateNan.NONE`, got {}",
                   c.parameter(i), describe(c[i])));
  return std::nullopt;
}

template <MinMax which> static PyValue minimumMaximum(BuiltinCall &c) {
  std::optional<bool> nan = propagatesNan(c, 2);
  Tensor x = c.tensor(0), y = c.tensor(1);
  return nan && x && y ? c.s.wrap(c.s.minMax(which, x, y, *nan)) : PoisonValue::get();
}

/// Python's min and max with a run-time argument.
template <MinMax which> static PyValue pythonMinMax(BuiltinCall &c) {
  ArrayRef<PyValue> values = c[0].elements();
  if (values.empty())
    return c.fail("at least one value is needed");
  PyValue result = values[0];
  for (const PyValue &value : values.drop_front()) {
    if (tensorIn(result) || tensorIn(value))
      result = c.s.wrap(c.s.minMax(which, c.s.tensor(result), c.s.tensor(value), false));
    else
      result = c.s.call(PyValue::symbol(which == MinMax::Min ? "min" : "max"), {result, value});
  }
  return result;
}

static PyValue clamp(BuiltinCall &c) {
  std::optional<bool> nan = propagatesNan(c, 3);
  Tensor x = c.tensor(0), low = c.tensor(1), high = c.tensor(2);
  for (Tensor *t : {&x, &low, &high})
    if (*t && t->type.kind() == Kind::BFloat16)
      *t = c.s.cast(*t, Kind::Float32);
  if (!nan || !x || !low || !high || !c.s.unify(low, high) || !c.s.unify(x, low) ||
      !c.s.unify(x, high) || !c.s.unify(low, high))
    return PoisonValue::get();
  if (!x.type.isStandardFloating())
    return c.fail(formatted("needs floats, got {}; use `tl.minimum` and `tl.maximum`",
                            describe(x.type, x.shape())));
  Value result = c.s.create<ClampOp>(x.value, low.value, high.value, *nan);
  return c.s.wrap({result, x.type});
}

static PyValue where(BuiltinCall &c) { return c.s.where(c[0], c[1], c[2]); }

static PyValue fma(BuiltinCall &c) {
  Tensor x = c.tensor(0), y = c.tensor(1), z = c.tensor(2);
  if (!x || !y || !z || !c.s.unify(x, y) || !c.s.unify(z, x) || !c.s.unify(z, y) ||
      !c.s.unify(x, y))
    return PoisonValue::get();
  if (!x.type.isStandardFloating())
    return c.fail(formatted("needs floats, got {}", describe(x.type, x.shape())));
  return c.s.wrap({c.s.create<math::FmaOp>(x.value, y.value, z.value), x.type});
}

static PyValue umulhi(BuiltinCall &c) {
  Tensor x = c.tensor(0), y = c.tensor(1);
  return c.s.wrap(highProduct(c.s, x, y));
}

Tensor highProduct(Specializer &s, Tensor x, Tensor y) {
  if (!x || !y || !s.unify(x, y))
    return {};
  if (!x.type.isInt() || x.type.bitWidth() < 32)
    return s.poison(formatted("`tl.umulhi`: needs 32- or 64-bit integers, got {}",
                              describe(x.type, x.shape())));
  return {s.create<UMulHiOp>(x.value, y.value), x.type};
}

Tensor divideFloats(Specializer &s, Tensor x, Tensor y, bool exact) {
  if (!x || !y || !s.broadcast({&x, &y}))
    return {};
  if (exact && x.type.kind() == Kind::Float32)
    return {s.create<DivRnOp>(x.value, y.value), x.type};
  return s.arithmetic(BinaryOp::Div, x, y);
}

static PyValue fdiv(BuiltinCall &c) {
  Tensor x = c.tensor(0), y = c.tensor(1);
  if (!x || !y)
    return PoisonValue::get();
  // A literal has no type to insist on; two tensors must agree.
  if (!tensorIn(c[0]) && y.type.isFloating())
    x = c.s.constant(c[0], y.type);
  if (!tensorIn(c[1]) && x.type.isFloating())
    y = c.s.constant(c[1], x.type);
  if (x.type != y.type || !x.type.isStandardFloating())
    return c.fail(
        formatted("needs two floats of one type, got {} and {}", describe(c[0]), describe(c[1])));
  return c.s.wrap(divideFloats(c.s, x, y, c.flag(2)));
}

static PyValue divRn(BuiltinCall &c) {
  Tensor x = c.tensor(0), y = c.tensor(1);
  if (!x || !y || !c.s.unify(x, y))
    return PoisonValue::get();
  if (x.type.kind() != Kind::Float32 && x.type.kind() != Kind::Float64)
    return c.fail(formatted("needs fp32, got {} and {}", describe(c[0]), describe(c[1])));
  return c.s.wrap(divideFloats(c.s, x, y, /*exact=*/true));
}

template <BinaryOp op> static PyValue binary(BuiltinCall &c) { return c.s.binary(op, c[0], c[1]); }
template <bool isAnd> static PyValue logical(BuiltinCall &c) {
  return c.s.wrap(c.s.logical(isAnd, c[0], c[1]));
}

//===----------------------------------------------------------------------===//
// Composed
//===----------------------------------------------------------------------===//

static PyValue cdiv(BuiltinCall &c) {
  Specializer &s = c.s;
  PyValue minusOne = s.binary(BinaryOp::Sub, c[1], PyValue::integer(1));
  return s.binary(BinaryOp::FloorDiv, s.binary(BinaryOp::Add, c[0], minusOne), c[1]);
}

static PyValue sigmoid(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  if (!x)
    return PoisonValue::get();
  Specializer &s = c.s;
  Tensor one = s.floatConstant(1, x.type, x.shape());
  Tensor e{s.create<math::ExpOp>(s.create<arith::NegFOp>(x.value)), x.type};
  return s.wrap(s.arithmetic(BinaryOp::Div, one, s.arithmetic(BinaryOp::Add, one, e)));
}

void addMathBuiltins(BuiltinTable &t) {
  t.add("tl.exp", "x", floatFunction<math::ExpOp>);
  t.add("tl.exp2", "x", floatFunction<math::Exp2Op>);
  t.add("tl.log", "x", floatFunction<math::LogOp>);
  t.add("tl.log2", "x", floatFunction<math::Log2Op>);
  t.add("tl.sin", "x", floatFunction<math::SinOp>);
  t.add("tl.cos", "x", floatFunction<math::CosOp>);
  t.add("tl.sqrt", "x", floatFunction<math::SqrtOp>);
  t.add("tl.rsqrt", "x", floatFunction<math::RsqrtOp>);
  t.add("tl.erf", "x", floatFunction<math::ErfOp>);
  t.add("tl.floor", "x", floatFunction<math::FloorOp>);
  t.add("tl.ceil", "x", floatFunction<math::CeilOp>);
  t.add("tl.sqrt_rn", "x", sqrtRn);
  t.add("tl.div_rn", "x, y", divRn);
  t.add("tl.fdiv", "x, y, ieee_rounding=", fdiv);
  t.add("tl.abs", "x", absolute);
  t.add("abs", "x", absolute);
  t.add("tl.minimum", "x, y, propagate_nan=", minimumMaximum<MinMax::Min>);
  t.add("tl.maximum", "x, y, propagate_nan=", minimumMaximum<MinMax::Max>);
  t.add("min", "*values", pythonMinMax<MinMax::Min>);
  t.add("max", "*values", pythonMinMax<MinMax::Max>);
  t.add("tl.clamp", "x, min, max, propagate_nan=", clamp);
  t.add("tl.where", "condition, x, y", where);
  t.add("tl.fma", "x, y, z", fma);
  t.add("tl.umulhi", "x, y", umulhi);
  t.add("tl.add", "x, y, sanitize_overflow=", binary<BinaryOp::Add>);
  t.add("tl.sub", "x, y, sanitize_overflow=", binary<BinaryOp::Sub>);
  t.add("tl.mul", "x, y, sanitize_overflow=", binary<BinaryOp::Mul>);
  t.add("tl.logical_and", "x, y", logical<true>);
  t.add("tl.logical_or", "x, y", logical<false>);
  t.add("tl.cdiv", "x, div", cdiv);
  t.add("triton.cdiv", "x, y", cdiv);
  t.add("tl.sigmoid", "x", sigmoid);
}

} // namespace tile::specialize
