//===- WarpgroupLayouts.cpp - layouts that matrix hardware prescribes ------===//
#include "ir/layout/WarpgroupLayouts.h"
#include "ir/layout/Fragments.h"
#include "ir/layout/GF2.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

using namespace tile::layout;
using llvm::Log2_64;
using llvm::SmallVector;

static constexpr unsigned kChunkBytes = 16;

unsigned tile::layout::swizzleSpan(int64_t minorBytes) {
  for (unsigned span : {128u, 64u, 32u})
    if (minorBytes >= span)
      return span;
  return kChunkBytes;
}

LinearLayout tile::layout::swizzledTile(Shape shape, unsigned minor, unsigned elementBytes) {
  return swizzledTileBy(kChunkBytes, shape, minor, elementBytes);
}

LinearLayout tile::layout::swizzledTileBy(unsigned chunkBytes, Shape shape, unsigned minor,
                                          unsigned elementBytes) {
  assert(shape.size() == 2 && "tiles are two-dimensional");
  unsigned span = swizzleSpan(shape[minor] * elementBytes);
  assert(chunkBytes <= span && chunkBytes >= elementBytes && "whole elements in parts of a span");
  unsigned spanBits = Log2_64(span / elementBytes), chunkBits = Log2_64(span / chunkBytes);
  unsigned minorBits = Log2_64(shape[minor]), rowBits = Log2_64(shape[1 - minor]);
  unsigned shifts[2] = {0, unsigned(Log2_64(shape[0]))};
  unsigned minorShift = shifts[minor], rowShift = shifts[1 - minor];

  SmallVector<uint64_t, 16> rows;
  for (unsigned bit = 0; bit < spanBits; ++bit)
    rows.push_back(1ull << (minorShift + bit));
  for (unsigned bit = 0; bit < rowBits; ++bit)
    rows.push_back(1ull << (rowShift + bit));
  for (unsigned bit = spanBits; bit < minorBits; ++bit)
    rows.push_back(1ull << (minorShift + bit));
  // The pattern is on addresses, whatever their bits stand for: bit 7 and those
  // above it are added to the lowest bit of a chunk's number (bit 4) and those above.
  unsigned bit7 = 7 - Log2_64(elementBytes), chunkBit = Log2_64(chunkBytes / elementBytes);
  for (unsigned i = 0; i < chunkBits && bit7 + i < rows.size(); ++i)
    rows[bit7 + i] |= rows[chunkBit + i];
  return LinearLayout::fromRows(
      {{Dim::offset(), int32_t(shape[0] * shape[1])}},
      {{Dim::dim(0), int32_t(shape[0])}, {Dim::dim(1), int32_t(shape[1])}}, rows);
}

std::optional<unsigned> tile::layout::minorOfSwizzledTile(const LinearLayout &tile,
                                                          unsigned elementBytes) {
  SmallVector<int64_t, 4> shape = shapeOf(tile);
  if (shape.size() != 2)
    return std::nullopt;
  for (unsigned minor : {1u, 0u})
    if (shape[minor] * elementBytes >= kChunkBytes &&
        tile == swizzledTile(shape, minor, elementBytes))
      return minor;
  return std::nullopt;
}

unsigned tile::layout::warpgroupsAlongM(int64_t m, unsigned numWarps) {
  return unsigned(std::min<int64_t>(m / 64, numWarps / 4));
}

namespace {
/// Rows of a layout register, lane, warp -> (m, other), filled bit by bit.
struct FragmentBuilder : FragmentRows {
  int64_t m, other;

  FragmentBuilder(int64_t m, int64_t other) : m(m), other(other) {}
  uint64_t rowBit(unsigned bit) const { return 1ull << bit; }
  uint64_t columnBit(unsigned bit) const { return 1ull << (Log2_64(m) + bit); }

  LinearLayout build() const {
    return FragmentRows::build({{Dim::dim(0), int32_t(m)}, {Dim::dim(1), int32_t(other)}});
  }
};
} // namespace

LinearLayout tile::layout::warpgroupAccumulator(int64_t m, int64_t n, unsigned numWarps) {
  assert(m >= 64 && n >= 8 && numWarps % 4 == 0 && "too small for a warpgroup");
  FragmentBuilder f(m, n);
  unsigned alongM = warpgroupsAlongM(m, numWarps);
  unsigned alongN = unsigned(std::min<int64_t>(numWarps / 4 / alongM, n / 8));
  unsigned mBits = Log2_64(m), nBits = Log2_64(n);
  unsigned ownN = nBits - Log2_64(alongN); // columns of one warpgroup
  f.reg = {f.columnBit(0), f.rowBit(3)};
  for (unsigned bit = 3; bit < ownN; ++bit)
    f.reg.push_back(f.columnBit(bit));
  f.lane = {f.columnBit(1), f.columnBit(2), f.rowBit(0), f.rowBit(1), f.rowBit(2)};
  f.warp = {f.rowBit(4), f.rowBit(5)};
  for (unsigned i = 0; i < Log2_64(alongM); ++i)
    f.warp.push_back(f.rowBit(6 + i));
  for (unsigned i = 0; i < Log2_64(alongN); ++i)
    f.warp.push_back(f.columnBit(ownN + i));
  for (unsigned i = Log2_64(alongM) + Log2_64(alongN); i < Log2_64(numWarps / 4); ++i)
    f.warp.push_back(0); // copies
  for (unsigned bit = 6 + Log2_64(alongM); bit < mBits; ++bit)
    f.reg.push_back(f.rowBit(bit));
  return f.build();
}

LinearLayout tile::layout::warpgroupOperandA(int64_t m, int64_t k, int64_t n, unsigned elementBytes,
                                             unsigned numWarps) {
  FragmentBuilder f(m, k);
  unsigned alongM = warpgroupsAlongM(m, numWarps);
  unsigned perWord = Log2_64(4 / elementBytes); // elements of a 32-bit register
  for (unsigned bit = 0; bit < perWord; ++bit)
    f.reg.push_back(f.columnBit(bit));
  f.reg.push_back(f.rowBit(3));
  f.lane = {f.columnBit(perWord), f.columnBit(perWord + 1), f.rowBit(0), f.rowBit(1), f.rowBit(2)};
  for (unsigned bit = perWord + 2; bit < Log2_64(k); ++bit)
    f.reg.push_back(f.columnBit(bit));
  f.warp = {f.rowBit(4), f.rowBit(5)};
  for (unsigned i = 0; i < Log2_64(alongM); ++i)
    f.warp.push_back(f.rowBit(6 + i));
  for (unsigned i = Log2_64(alongM); i < Log2_64(numWarps / 4); ++i)
    f.warp.push_back(0);
  for (unsigned bit = 6 + Log2_64(alongM); bit < Log2_64(m); ++bit)
    f.reg.push_back(f.rowBit(bit));
  return f.build();
}
