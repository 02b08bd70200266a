//===- Builders.cpp - layouts of blocks, and of what shape ops make of them -===//
#include "ir/layout/Builders.h"
#include "ir/layout/Fragments.h"
#include "ir/layout/GF2.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <cassert>

using namespace tile::layout;
using llvm::ArrayRef;
using llvm::SmallVector;

static SmallVector<DimValue, 4> outsOf(Shape shape) {
  SmallVector<DimValue, 4> outs;
  for (auto [axis, size] : llvm::enumerate(shape))
    outs.push_back({Dim::dim(axis), int32_t(size)});
  return outs;
}

SmallVector<int64_t, 4> tile::layout::shapeOf(const LinearLayout &l) {
  SmallVector<int64_t, 4> shape;
  for (const DimValue &out : l.outs())
    shape.push_back(out.second);
  return shape;
}

namespace {
/// Hands out coordinate bits, lowest first in each dimension.
class CoordinateBits {
public:
  explicit CoordinateBits(Shape shape) {
    unsigned shift = 0;
    for (int64_t size : shape) {
      next.push_back(shift);
      shift += log2Exact(size);
      end.push_back(shift);
    }
  }
  bool left(unsigned axis) const { return next[axis] < end[axis]; }
  /// The next bit along `axis`, or 0 if there is none.
  uint64_t take(unsigned axis) { return left(axis) ? 1ull << next[axis]++ : 0; }
  /// The next bit along the first dimension of `order` that has one, or 0.
  uint64_t takeFirst(Counts order) {
    for (unsigned axis : order)
      if (left(axis))
        return take(axis);
    return 0;
  }

private:
  SmallVector<unsigned, 4> next, end;
};
} // namespace

LinearLayout tile::layout::blocked(Shape shape, Counts sizePerThread, Counts threadsPerWarp,
                                   Counts warpsPerBlock, Counts order) {
  CoordinateBits bits(shape);
  FragmentRows rows;
  for (unsigned axis : order)
    for (unsigned i = 1; i < sizePerThread[axis]; i *= 2)
      if (bits.left(axis))
        rows.reg.push_back(bits.take(axis));
  for (unsigned axis : order)
    for (unsigned i = 1; i < threadsPerWarp[axis]; i *= 2)
      rows.lane.push_back(bits.take(axis));
  for (unsigned axis : order)
    for (unsigned i = 1; i < warpsPerBlock[axis]; i *= 2)
      rows.warp.push_back(bits.take(axis));
  while (uint64_t bit = bits.takeFirst(order))
    rows.reg.push_back(bit);
  return rows.build(outsOf(shape));
}

LinearLayout tile::layout::spread(Shape shape, unsigned vector, unsigned numWarps, Counts order) {
  CoordinateBits bits(shape);
  FragmentRows rows;
  if (!order.empty())
    for (unsigned i = 1; i < vector && bits.left(order[0]); i *= 2)
      rows.reg.push_back(bits.take(order[0]));
  for (unsigned i = 1; i < 32; i *= 2)
    rows.lane.push_back(bits.takeFirst(order));
  for (unsigned i = 1; i < numWarps; i *= 2)
    rows.warp.push_back(bits.takeFirst(order));
  while (uint64_t bit = bits.takeFirst(order))
    rows.reg.push_back(bit);
  return rows.build(outsOf(shape));
}

LinearLayout tile::layout::defaultLayout(Shape shape, unsigned numWarps) {
  SmallVector<unsigned, 4> order(
      llvm::reverse(llvm::to_vector<4>(llvm::seq<unsigned>(shape.size()))));
  return spread(shape, 1, numWarps, order);
}

LinearLayout tile::layout::sliceAxis(const LinearLayout &l, unsigned axis) {
  uint64_t low = lowBits(l.outShift(Dim::dim(axis)));
  unsigned width = l.outSizeLog2(Dim::dim(axis));
  SmallVector<uint64_t, 16> rows;
  for (uint64_t row : l.rows())
    rows.push_back((row & low) | (row >> width & ~low));
  SmallVector<int64_t, 4> shape = shapeOf(l);
  shape.erase(shape.begin() + axis);
  return LinearLayout::fromRows(l.ins(), outsOf(shape), rows).removeZeroBases(Dim::reg());
}

LinearLayout tile::layout::withoutCopiesOfWarps(const LinearLayout &l) {
  SmallVector<uint64_t, 16> registers(l.rows(Dim::reg())), threads(l.rows(Dim::lane()));
  for (uint64_t row : l.rows(Dim::warp()))
    threads.push_back(row || registers.empty() ? row : registers.pop_back_val());
  SmallVector<DimValue, 3> ins(l.ins());
  for (auto &[in, size] : ins)
    if (in == Dim::reg())
      size = 1 << registers.size();
  registers.append(threads);
  return LinearLayout::fromRows(ins, outsOf(shapeOf(l)), registers);
}

LinearLayout tile::layout::expandDims(const LinearLayout &l, unsigned axis) {
  SmallVector<int64_t, 4> shape = shapeOf(l);
  shape.insert(shape.begin() + axis, 1);
  return LinearLayout::fromRows(l.ins(), outsOf(shape), l.rows());
}

LinearLayout tile::layout::broadcastOperand(const LinearLayout &l, Shape operandShape) {
  SmallVector<DimValue, 4> outs = outsOf(operandShape);
  SmallVector<uint64_t, 16> rows;
  for (uint64_t row : l.rows()) {
    uint64_t kept = 0;
    unsigned shift = 0;
    for (auto [from, to] : llvm::zip_equal(l.outs(), outs)) {
      kept |= (row & (to.second - 1)) << shift;
      row >>= log2Exact(from.second);
      shift += log2Exact(to.second);
    }
    rows.push_back(kept);
  }
  return LinearLayout::fromRows(l.ins(), outs, rows).removeZeroBases(Dim::reg());
}

LinearLayout tile::layout::broadcastResult(const LinearLayout &l, Shape resultShape) {
  SmallVector<DimValue, 4> outs = outsOf(resultShape);
  SmallVector<uint64_t, 8> added;
  unsigned shift = 0;
  for (auto [from, to] : llvm::zip_equal(l.outs(), outs)) {
    for (int64_t bit = from.second; bit < to.second; bit *= 2)
      added.push_back(uint64_t(bit) << shift);
    shift += log2Exact(to.second);
  }
  FragmentRows rows;
  auto widen = [&](Dim in, SmallVector<uint64_t, 8> &into) {
    for (uint64_t row : l.rows(in)) {
      uint64_t moved = 0;
      unsigned at = 0;
      for (auto [from, to] : llvm::zip_equal(l.outs(), outs)) {
        moved |= (row & (from.second - 1)) << at;
        row >>= log2Exact(from.second);
        at += log2Exact(to.second);
      }
      into.push_back(moved);
    }
  };
  widen(Dim::reg(), rows.reg);
  widen(Dim::lane(), rows.lane);
  widen(Dim::warp(), rows.warp);
  rows.reg.append(added);
  return rows.build(outsOf(resultShape));
}

/// The outputs with the last dimension in the lowest bits: row-major indices.
static LinearLayout lastDimensionMinor(const LinearLayout &l) {
  SmallVector<Dim, 4> order;
  for (const DimValue &out : llvm::reverse(l.outs()))
    order.push_back(out.first);
  return l.transposeOuts(order);
}

LinearLayout tile::layout::reshape(const LinearLayout &l, Shape shape) {
  SmallVector<DimValue, 4> reversed = outsOf(shape);
  std::reverse(reversed.begin(), reversed.end());
  return lastDimensionMinor(lastDimensionMinor(l).reshapeOuts(reversed));
}

LinearLayout tile::layout::transpose(const LinearLayout &l, ArrayRef<int32_t> order) {
  SmallVector<Dim, 4> from;
  SmallVector<int64_t, 4> shape;
  for (int32_t axis : order) {
    from.push_back(Dim::dim(axis));
    shape.push_back(l.outSize(Dim::dim(axis)));
  }
  return l.transposeOuts(from).reshapeOuts(outsOf(shape));
}

LinearLayout tile::layout::join(const LinearLayout &l) {
  SmallVector<int64_t, 4> shape = shapeOf(l);
  shape.push_back(2);
  SmallVector<uint64_t, 16> rows{1ull << l.totalOutSizeLog2()};
  llvm::append_range(rows, l.rows());
  SmallVector<DimValue, 4> ins(l.ins());
  assert(ins.front().first == Dim::reg() && "registers come first");
  ins.front().second *= 2;
  return LinearLayout::fromRows(ins, outsOf(shape), rows);
}

std::optional<SplitLayout> tile::layout::split(const LinearLayout &l) {
  uint64_t pair = l.outMask(l.outs().back().first);
  std::optional<unsigned> found;
  for (auto [bit, row] : llvm::enumerate(l.rows())) {
    if (!(row & pair))
      continue;
    if (found || row != pair || int32_t(bit) >= l.inSizeLog2(Dim::reg()))
      return std::nullopt;
    found = bit;
  }
  if (!found)
    return std::nullopt;
  LinearLayout half = sliceAxis(l.removeInBits(Dim::reg(), 1 << *found), l.outs().size() - 1);
  return SplitLayout{half, *found};
}
