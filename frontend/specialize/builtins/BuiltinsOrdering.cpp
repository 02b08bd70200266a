//===- BuiltinsOrdering.cpp - flip, sort, topk -----------------------------===//
//
// All of these move elements between positions that differ in one bit. The
// one idea: view the block as [before, 2, after], so that this bit is an axis
// of its own; the xor of both elements along it, xored with an element, is its
// partner. No element order is ever changed by the views themselves.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Builtins.h"
#include "frontend/specialize/MathOps.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Partners
//===----------------------------------------------------------------------===//

static DType bitsType(const DType &type) {
  switch (type.bitWidth()) {
  case 8:
    return Kind::UInt8;
  case 16:
    return Kind::UInt16;
  case 32:
    return Kind::UInt32;
  case 64:
    return Kind::UInt64;
  default:
    return Kind::Int1;
  }
}

static Tensor xorAlong(Specializer &s, const Tensor &x, int64_t axis) {
  auto folded =
      s.reduce({x}, axis, [&](ArrayRef<Tensor> a, ArrayRef<Tensor> b) -> Emitter::Tensors {
        return {s.arithmetic(BinaryOp::Xor, a[0], b[0])};
      });
  return folded.empty() ? Tensor() : folded[0];
}

/// For a block of shape [before, 2, after]: the other element of each pair.
static Tensor partner(Specializer &s, const Tensor &x) {
  Tensor bits = s.bitcast(x, bitsType(x.type));
  Tensor both = keepDimension(s, xorAlong(s, bits, 1), 1);
  return s.bitcast(s.arithmetic(BinaryOp::Xor, bits, both), x.type);
}

/// `arange(length)` along dimension `axis` of three.
static Tensor positions(Specializer &s, int64_t length, int64_t axis) {
  Value range =
      s.create<MakeRangeOp>(s.irType(Kind::Int32, {length}), s.builder.getI32IntegerAttr(0),
                            s.builder.getI32IntegerAttr(length));
  SmallVector<int64_t> shape(3, 1);
  shape[axis] = length;
  return s.reshape({range, DType(Kind::Int32)}, shape);
}

//===----------------------------------------------------------------------===//
// flip
//===----------------------------------------------------------------------===//

static PyValue flip(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  if (!x)
    return PoisonValue::get();
  auto axis = c.has(1) ? c.axis(1, x.rank()) : std::optional<int64_t>(x.rank() - 1);
  if (!axis)
    return PoisonValue::get();
  if (!x.isBlock() || x.type.isPointer())
    return c.fail(formatted("needs a block of numbers, got {}", describe(c[0])));
  Specializer &s = c.s;
  if (!llvm::isPowerOf2_64(x.shape()[*axis])) {
    Tensor index = indicesAlong(s, x.shape(), *axis);
    Tensor last = s.intConstant(x.shape()[*axis] - 1, index.type, index.shape());
    return s.wrap(pickAlong(s, x, s.arithmetic(BinaryOp::Sub, last, index), *axis));
  }
  SmallVector<int64_t> shape(x.shape());
  int64_t total = x.blockType().getNumElements(), stride = 1;
  for (int64_t d : ArrayRef(shape).drop_front(*axis + 1))
    stride *= d;
  // Reversing the order complements every bit of the position.
  for (int64_t step = 1; step < shape[*axis]; step *= 2) {
    int64_t after = stride * step;
    x = partner(s, s.reshape(x, {total / (2 * after), 2, after}));
  }
  return s.wrap(s.reshape(x, shape));
}

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

/// Of a float, the bits as an integer that is ordered as the floats are, or the other way round:
/// those of a negative number count down as it does, so all but their sign are turned over.
static Tensor turned(Specializer &s, const Tensor &bits) {
  Tensor sign = s.arithmetic(BinaryOp::RShift, bits,
                             s.intConstant(bits.type.bitWidth() - 1, bits.type, bits.shape()));
  int64_t rest = int64_t(llvm::maskTrailingOnes<uint64_t>(bits.type.bitWidth() - 1));
  Tensor others = s.arithmetic(BinaryOp::And, sign, s.intConstant(rest, bits.type, bits.shape()));
  return s.arithmetic(BinaryOp::Xor, bits, others);
}

/// Integers of 32 bits at least that are ordered as the elements are: of a pair, each place takes
/// the smaller or the larger one, in an instruction or two, and no element is lost to a NaN.
static Tensor keysOf(Specializer &s, const Tensor &x) {
  bool isWide = x.type.bitWidth() > 32;
  if (x.type.isFloating())
    return turned(s, s.bitcast(s.cast(x, isWide ? Kind::Float64 : Kind::Float32),
                               isWide ? Kind::Int64 : Kind::Int32));
  return x.type.bitWidth() < 32 ? s.cast(x, Kind::Int32) : x;
}

/// The elements again, as `type`, which may be a wider one.
static Tensor ofKeys(Specializer &s, const Tensor &keys, const DType &type) {
  if (!type.isFloating())
    return s.cast(keys, type);
  Tensor bits = turned(s, keys);
  return s.cast(s.bitcast(bits, bits.type.bitWidth() > 32 ? Kind::Float64 : Kind::Float32), type);
}

namespace {
/// A bitonic network along the last dimension, whose length is a power of two.
struct Sorter {
  Specializer &s;
  Tensor x;    ///< keys
  Tensor rank; ///< int32, compared before the elements; may be missing
  int64_t length, total;

  Sorter(Specializer &s, const Tensor &elements)
      : s(s), x(keysOf(s, elements)), length(x.shape().back()),
        total(x.blockType().getNumElements()) {}

  /// Orders each pair at distance `after`. Where bit `directionBit` of the
  /// position is set the order is the other one; `descending` if there is no
  /// such bit.
  void exchange(int64_t after, std::optional<unsigned> directionBit, bool descending);
  /// The smaller or the larger of `v` and its partner `p`, by whom the pair's places ask for.
  Tensor smallerOrLarger(const Tensor &v, const Tensor &p, Tensor isRight,
                         const std::optional<Tensor> &isDown, bool descending);
  /// Whether `left` and `right` stand in this order, ranks first.
  struct Pair {
    Tensor left, right;
  };
  Tensor ordered(CompareOp op, const Pair &elements, const Pair &ranks) {
    Tensor result = s.compareSame(op, elements.left, elements.right);
    Tensor same = s.compareSame(CompareOp::Eq, ranks.left, ranks.right);
    return s.arithmetic(BinaryOp::Or, s.compareSame(op, ranks.left, ranks.right),
                        s.arithmetic(BinaryOp::And, same, result));
  }
  /// Of each place in `runs` neighbouring runs of `length` elements, the largest or the smallest
  /// one. Of two that are sorted opposite ways, that is a half of their elements, and bitonic.
  void select(int64_t length, int64_t runs, bool isLargest);
  /// Merges bitonic runs of 2^stage elements.
  void merge(unsigned stage, bool isLast, bool descending) {
    for (unsigned bit = stage; bit-- > 0;)
      exchange(int64_t(1) << bit, isLast ? std::nullopt : std::optional(stage), descending);
  }
};
} // namespace

Tensor Sorter::smallerOrLarger(const Tensor &v, const Tensor &p, Tensor isRight,
                               const std::optional<Tensor> &isDown, bool descending) {
  Tensor isLarger = isDown ? s.arithmetic(BinaryOp::Xor, isRight, *isDown) : isRight;
  if (v.type.bitWidth() > 32) { // extrema would be a comparison each
    Tensor isLess = s.compareSame(CompareOp::Lt, v, p);
    Tensor stays = s.arithmetic(BinaryOp::Xor, isLess, isLarger);
    return !isDown && descending ? s.select(stays, p, v) : s.select(stays, v, p);
  }
  Tensor larger = s.minMax(MinMax::Max, v, p, /*propagateNan=*/false);
  Tensor smaller = s.minMax(MinMax::Min, v, p, /*propagateNan=*/false);
  return !isDown && descending ? s.select(isLarger, smaller, larger)
                               : s.select(isLarger, larger, smaller);
}

void Sorter::exchange(int64_t after, std::optional<unsigned> directionBit, bool descending) {
  int64_t before = total / (2 * after);
  Tensor v = s.reshape(x, {before, 2, after});
  Tensor p = partner(s, v);
  Tensor side = positions(s, 2, 1);
  Tensor isRight = s.compareSame(CompareOp::Ne, side, s.intConstant(0, side.type, side.shape()));
  std::optional<Tensor> isDown;
  if (directionBit) {
    Tensor row = positions(s, before, 0);
    unsigned shift = *directionBit - llvm::Log2_64(2 * after);
    Tensor bit = s.arithmetic(BinaryOp::And, row, s.intConstant(int64_t(1) << shift, row.type));
    isDown = s.compareSame(CompareOp::Ne, bit, s.intConstant(0, row.type, row.shape()));
  }
  if (!rank) {
    x = smallerOrLarger(v, p, isRight, isDown, descending);
    return;
  }
  Pair elements{s.select(isRight, p, v), s.select(isRight, v, p)};
  Tensor r = s.reshape(rank, {before, 2, after}), q = partner(s, r);
  Pair ranks{s.select(isRight, q, r), s.select(isRight, r, q)};
  Tensor swapUp = ordered(CompareOp::Gt, elements, ranks);
  Tensor swapDown = ordered(CompareOp::Lt, elements, ranks);
  Tensor swap = descending ? swapDown : swapUp;
  if (isDown)
    swap = s.select(*isDown, swapDown, swapUp);
  x = s.select(swap, p, v);
  rank = s.select(swap, q, r);
}

void Sorter::select(int64_t length, int64_t runs, bool isLargest) {
  Tensor v = s.reshape(x, {total / (runs * length), runs, length});
  x = extremumAlong(s, isLargest ? MinMax::Max : MinMax::Min, v, 1);
  total /= runs;
}

static Tensor sortable(BuiltinCall &c, unsigned dimIndex) {
  Tensor x = c.tensor(0);
  if (!x)
    return {};
  if (!x.isBlock() || x.type.isPointer() || x.type.isFp8())
    return c.poison(formatted("needs a block of numbers, got {}", describe(c[0])));
  if (c.has(dimIndex)) {
    auto axis = c.axis(dimIndex, x.rank());
    if (!axis)
      return {};
    if (*axis != x.rank() - 1)
      return c.poison(formatted("only the last dimension ({}) is possible, got {}; use `tl.trans`",
                                x.rank() - 1, *axis));
  }
  return x;
}

/// The elements of x at positions 0 to `length` - 1 of the last dimension; those
/// beyond the end are the last one's.
static Tensor stretched(Specializer &s, const Tensor &x, int64_t length) {
  SmallVector<int64_t> shape(x.shape());
  int64_t last = shape.back() - 1;
  shape.back() = length;
  Tensor index = indicesAlong(s, shape, shape.size() - 1);
  if (last + 1 < length)
    index = s.minMax(MinMax::Min, index, s.intConstant(last, index.type, shape), false);
  return pickAlong(s, x, index, x.rank() - 1);
}

static Tensor sorted(Specializer &s, const Tensor &x, bool descending) {
  int64_t length = x.shape().back(), whole = llvm::PowerOf2Ceil(length);
  Sorter sorter(s, length == whole ? x : stretched(s, x, whole));
  SmallVector<int64_t> shape(sorter.x.shape());
  if (length != whole) { // what is added is ranked behind all that was there
    Tensor index = indicesAlong(s, shape, x.rank() - 1);
    Tensor isHigh = s.compareSame(descending ? CompareOp::Lt : CompareOp::Ge, index,
                                  s.intConstant(length, index.type, shape));
    sorter.rank = s.cast(isHigh, Kind::Int32);
  }
  unsigned stages = llvm::Log2_64(sorter.length);
  for (unsigned stage = 1; stage <= stages; ++stage)
    sorter.merge(stage, stage == stages, descending);
  Tensor all = s.reshape(ofKeys(s, sorter.x, x.type), shape);
  return length == whole ? all : stretched(s, all, length);
}

static PyValue sort(BuiltinCall &c) {
  Tensor x = sortable(c, 1);
  return x ? c.s.wrap(sorted(c.s, x, c.flag(2))) : PoisonValue::get();
}

static PyValue bitonicMerge(BuiltinCall &c) {
  Tensor x = sortable(c, 1);
  if (!x)
    return PoisonValue::get();
  if (!llvm::isPowerOf2_64(x.shape().back()))
    return c.fail(
        formatted("the last dimension of {} must be a power of two; `tl.sort` sorts any length",
                  describe(c[0])));
  Sorter sorter(c.s, x);
  sorter.merge(llvm::Log2_64(sorter.length), /*isLast=*/true, c.flag(2));
  return c.s.wrap(c.s.reshape(ofKeys(c.s, sorter.x, x.type), x.shape()));
}

/// Runs of `k` elements are sorted, every other one the other way; of each two, one is left.
/// The reference selects by maxima, and so has their type.
static Tensor selected(Specializer &s, const Tensor &x, int64_t k, bool isLargest) {
  Sorter sorter(s, x);
  unsigned stages = llvm::Log2_64(k);
  for (unsigned stage = 1; stage <= stages; ++stage)
    sorter.merge(stage, /*isLast=*/false, isLargest);
  if (k == 1)
    sorter.select(1, sorter.length, isLargest);
  for (int64_t left = sorter.length / 2; k > 1 && left >= k; left /= 2) {
    sorter.select(k, 2, isLargest);
    sorter.merge(stages, /*isLast=*/left == k, isLargest);
  }
  return ofKeys(s, sorter.x, extremumType(x.type));
}

static PyValue topk(BuiltinCall &c) {
  Tensor x = sortable(c, 2);
  auto k = c.integer(1);
  if (!x || !k)
    return PoisonValue::get();
  int64_t length = x.shape().back();
  if (*k <= 0 || *k > length)
    return c.fail(formatted("`k` must be between 1 and {}, got {}", length, *k));
  Specializer &s = c.s;
  bool isLargest = c.flag(3, true);
  if (*k == length)
    return s.wrap(sorted(s, x, isLargest));
  SmallVector<int64_t> shape(x.shape());
  shape.back() = *k;
  if (!llvm::isPowerOf2_64(*k) || !llvm::isPowerOf2_64(length))
    return s.wrap(stretched(s, s.cast(sorted(s, x, isLargest), extremumType(x.type)), *k));
  return s.wrap(s.reshape(selected(s, x, *k, isLargest), shape));
}

void addOrderingBuiltins(BuiltinTable &t) {
  t.add("tl.flip", "x, dim=", flip);
  t.add("tl.sort", "x, dim=, descending=", sort);
  t.add("tl.bitonic_merge", "x, dim=, descending=", bitonicMerge);
  t.add("tl.topk", "x, k, dim=, descending=", topk);
}

} // namespace tile::specialize
