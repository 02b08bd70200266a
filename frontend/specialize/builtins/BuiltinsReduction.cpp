//===- BuiltinsReduction.cpp - sums, extrema, scans -----------------------===//
#include "frontend/specialize/builtins/Reduction.h"

using namespace mlir;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Shared parts
//===----------------------------------------------------------------------===//

Tensor keepDimension(Specializer &s, const Tensor &x, int64_t axis) {
  return x ? s.expandDims(x, axis) : x;
}

static Tensor first(const Tensors &tensors) { return tensors.empty() ? Tensor() : tensors[0]; }

static Tensor fold(Specializer &s, const Tensor &x, int64_t axis,
                   llvm::function_ref<Tensor(const Tensor &, const Tensor &)> combine) {
  return first(s.reduce({x}, axis, [&](ArrayRef<Tensor> a, ArrayRef<Tensor> b) -> Tensors {
    return {combine(a[0], b[0])};
  }));
}

Tensor sumAlong(Specializer &s, const Tensor &x, int64_t axis) {
  return fold(s, x, axis,
              [&](const Tensor &a, const Tensor &b) { return s.arithmetic(BinaryOp::Add, a, b); });
}

Tensor extremumAlong(Specializer &s, MinMax which, const Tensor &x, int64_t axis) {
  return fold(s, x, axis, [&](const Tensor &a, const Tensor &b) {
    return s.minMax(which, a, b, /*propagateNan=*/false);
  });
}

/// Integers narrower than 32 bits are summed in 32.
static DType sumType(const DType &type) {
  if (!type.isInt() || type.bitWidth() >= 32)
    return type;
  return type.isSigned() ? Kind::Int32 : Kind::UInt32;
}

static bool arithmeticInput(BuiltinCall &c, const Tensor &x) {
  if (!x || !(x.type.isPointer() || x.type.isFp8()))
    return bool(x);
  c.fail(formatted("not defined for {}{}", x.type.str(),
                   x.type.isFp8() ? ": convert with `.to(tl.float32)` first" : ""));
  return false;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static Tensor summand(BuiltinCall &c, unsigned typeIndex) {
  Tensor x = c.tensor(0);
  std::optional<DType> type;
  if (c.has(typeIndex) && !(type = c.dtype(typeIndex)))
    return {};
  if (!x)
    return {};
  x = c.s.cast(x, type ? *type : sumType(x.type));
  return arithmeticInput(c, x) ? x : Tensor();
}

static PyValue sum(BuiltinCall &c) {
  Reduction r{c, summand(c, 3)};
  if (!r.prepare(1, 2))
    return PoisonValue::get();
  return c.s.wrap(r.finish(sumAlong(c.s, r.input(r.x), r.along())));
}

template <BinaryOp op> static PyValue bitReduction(BuiltinCall &c) {
  Reduction r{c, c.tensor(0)};
  if (!r.prepare(1, 2))
    return PoisonValue::get();
  if (!r.x.type.isInt())
    return c.fail(formatted("needs integers, got {}", describe(c[0])));
  Tensor result = fold(c.s, r.input(r.x), r.along(),
                       [&](const Tensor &a, const Tensor &b) { return c.s.arithmetic(op, a, b); });
  return c.s.wrap(r.finish(result));
}

//===----------------------------------------------------------------------===//
// Extrema
//===----------------------------------------------------------------------===//

Tensor indicesAlong(Specializer &s, ArrayRef<int64_t> shape, int64_t axis) {
  int64_t length = shape[axis];
  Value range =
      s.create<MakeRangeOp>(s.irType(Kind::Int32, {length}), s.builder.getI32IntegerAttr(0),
                            s.builder.getI32IntegerAttr(length));
  Tensor index{range, DType(Kind::Int32)};
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (d != axis)
      index = s.expandDims(index, d);
  return s.broadcastTo(index, shape);
}

DType extremumType(const DType &type) {
  if (type.isFloating())
    return type.bitWidth() < 32 ? DType(Kind::Float32) : type;
  return type.bitWidth() < 32 ? DType(Kind::Int32) : type;
}

/// Along `axis`, the extremum, and the first or last place of it. First the extremum alone, then
/// which elements are equal to it: an integer reduced by itself is much less work than a pair, and
/// whoever asks for the extremum elsewhere has it already. A NaN is taken only where there is
/// nothing else, the first or last as well.
static Tensors extremumAndPlace(Specializer &s, MinMax which, bool leftmost, const Tensor &x,
                                int64_t axis) {
  Tensor wide = s.cast(x, extremumType(x.type));
  Tensor best = wide ? extremumAlong(s, which, wide, axis) : Tensor();
  if (!best)
    return {};
  int64_t length = x.shape()[axis];
  auto number = [&](int64_t n, ArrayRef<int64_t> shape) {
    return s.constant(PyValue::integer(n), Kind::Int32, shape);
  };
  Tensor isBest =
      s.compareSame(CompareOp::Eq, wide, s.broadcastTo(keepDimension(s, best, axis), x.shape()));
  Tensor places =
      s.select(isBest, indicesAlong(s, x.shape(), axis), number(leftmost ? length : -1, x.shape()));
  Tensor place = extremumAlong(s, leftmost ? MinMax::Min : MinMax::Max, places, axis);
  if (place && x.type.isFloating()) {
    Tensor isNan = s.compareSame(CompareOp::Ne, best, best);
    place = s.select(isNan, number(leftmost ? 0 : length - 1, best.shape()), place);
  }
  return place ? Tensors{s.cast(best, x.type), place} : Tensors();
}

static Tensors extremumWithIndex(Reduction &r, MinMax which, bool leftmost) {
  Specializer &s = r.c.s;
  if (r.x.type.kind() == Kind::BFloat16)
    r.x = s.cast(r.x, Kind::Float32);
  Tensor x = r.x;
  if (!r.axis) // the order must be kept for the index to mean something
    x = s.reshape(r.x, {r.x.blockType().getNumElements()});
  Tensors both = extremumAndPlace(s, which, leftmost, x, r.axis.value_or(0));
  if (both.size() != 2)
    return {};
  return {r.finish(both[0]), r.finish(both[1])};
}

template <MinMax which> static PyValue extremum(BuiltinCall &c) {
  enum { Input, Axis, Indices, TieBreak, Keep };
  Reduction r{c, c.tensor(Input)};
  if (!r.prepare(Axis, Keep))
    return PoisonValue::get();
  if (r.x.type.isPointer())
    return c.fail("not defined for pointers");
  if (c.flag(Indices)) {
    Tensors both = extremumWithIndex(r, which, c.flag(TieBreak, true));
    if (both.size() != 2)
      return PoisonValue::get();
    return PyValue::tuple({c.s.wrap(both[0]), c.s.wrap(both[1])});
  }
  r.x = c.s.cast(r.x, extremumType(r.x.type));
  return c.s.wrap(r.finish(extremumAlong(c.s, which, r.input(r.x), r.along())));
}

template <MinMax which> static PyValue argExtremum(BuiltinCall &c) {
  Reduction r{c, c.tensor(0)};
  if (!r.prepare(1, 3))
    return PoisonValue::get();
  if (r.x.type.isPointer())
    return c.fail("not defined for pointers");
  Tensors both = extremumWithIndex(r, which, c.flag(2, true));
  return both.size() == 2 ? c.s.wrap(both[1]) : PoisonValue::get();
}

static PyValue softmax(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  // The maximum that is subtracted is wide, and so is the difference.
  if (x && x.type.isFloating() && x.type.bitWidth() < 32)
    x = c.s.cast(x, DType(Kind::Float32));
  else
    x = fp32Or64(c, 0);
  if (!x)
    return PoisonValue::get();
  if (!x.isBlock())
    return c.fail("needs a block, got a scalar");
  auto axis = c.has(1) ? c.axis(1, x.rank()) : std::optional<int64_t>(0);
  if (!axis)
    return PoisonValue::get();
  Specializer &s = c.s;
  auto wide = [&](const Tensor &t) { return s.broadcastTo(keepDimension(s, t, *axis), x.shape()); };
  Tensor largest = wide(extremumAlong(s, MinMax::Max, x, *axis));
  Tensor shifted = s.arithmetic(BinaryOp::Sub, x, largest);
  Tensor e{s.create<math::ExpOp>(shifted.value), x.type};
  return s.wrap(divideFloats(s, e, wide(sumAlong(s, e, *axis)), c.flag(3)));
}

//===----------------------------------------------------------------------===//
// Running sums and products
//===----------------------------------------------------------------------===//

static PyValue cumulate(BuiltinCall &c, BinaryOp op, Tensor x) {
  if (!arithmeticInput(c, x))
    return PoisonValue::get();
  if (!x.isBlock())
    return c.fail(formatted("needs a block, got the scalar {}", describe(x.type, x.shape())));
  auto axis = c.has(1) ? c.axis(1, x.rank()) : std::optional<int64_t>(0);
  if (!axis)
    return PoisonValue::get();
  if (x.type.kind() == Kind::BFloat16)
    x = c.s.cast(x, Kind::Float32);
  return c.s.wrap(
      first(c.s.scan({x}, *axis, c.flag(2), [&](ArrayRef<Tensor> a, ArrayRef<Tensor> b) -> Tensors {
        return {c.s.arithmetic(op, a[0], b[0])};
      })));
}

static PyValue cumsum(BuiltinCall &c) { return cumulate(c, BinaryOp::Add, summand(c, 3)); }
static PyValue cumprod(BuiltinCall &c) { return cumulate(c, BinaryOp::Mul, c.tensor(0)); }

void addReductionBuiltins(BuiltinTable &t) {
  t.add("tl.sum", "input, axis=, keep_dims=, dtype=", sum);
  t.add("tl.xor_sum", "input, axis=, keep_dims=", bitReduction<BinaryOp::Xor>);
  t.add("tl.reduce_or", "input, axis=, keep_dims=", bitReduction<BinaryOp::Or>);
  constexpr const char *parameters =
      "input, axis=, return_indices=, return_indices_tie_break_left=, keep_dims=";
  t.add("tl.max", parameters, extremum<MinMax::Max>);
  t.add("tl.min", parameters, extremum<MinMax::Min>);
  t.add("tl.argmax", "input, axis, tie_break_left=, keep_dims=", argExtremum<MinMax::Max>);
  t.add("tl.argmin", "input, axis, tie_break_left=, keep_dims=", argExtremum<MinMax::Min>);
  t.add("tl.softmax", "x, dim=, keep_dims=, ieee_rounding=", softmax);
  t.add("tl.cumsum", "input, axis=, reverse=, dtype=", cumsum);
  t.add("tl.cumprod", "input, axis=, reverse=", cumprod);
}

} // namespace tile::specialize
