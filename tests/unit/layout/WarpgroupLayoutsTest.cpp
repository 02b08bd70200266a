//===- WarpgroupLayoutsTest.cpp - prescribed layouts, element by element ----===//
//
// The layouts against the formulas of the PTX ISA, computed here with ordinary
// arithmetic for every element.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/WarpgroupLayouts.h"
#include "ir/layout/LinearLayout.h"
#include "gtest/gtest.h"

using namespace tile::layout;

namespace {

const Dim D0 = Dim::dim(0), D1 = Dim::dim(1);

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

TEST(SwizzleSpan, IsTheWidestThatTheTileFills) {
  EXPECT_EQ(swizzleSpan(16), 16u);
  EXPECT_EQ(swizzleSpan(32), 32u);
  EXPECT_EQ(swizzleSpan(64), 64u);
  EXPECT_EQ(swizzleSpan(128), 128u);
  EXPECT_EQ(swizzleSpan(1024), 128u);
}

/// The byte of element (row, column), column being the contiguous dimension,
/// in an image at an address that is a multiple of 1024.
unsigned hardwareByte(unsigned row, unsigned column, unsigned rows, unsigned columns,
                      unsigned elementBytes) {
  unsigned span = std::min(128u, columns * elementBytes), byte = column * elementBytes;
  unsigned address = byte / span * rows * span + row * span + byte % span;
  switch (span) { // the pattern is on the address, whatever is there
  case 128:
    return address ^ (address >> 7 & 7) << 4;
  case 64:
    return address ^ (address >> 7 & 3) << 4;
  case 32:
    return address ^ (address >> 7 & 1) << 4;
  default:
    return address;
  }
}

TEST(SwizzledTile, IsTheImageThatTheHardwareReads) {
  for (unsigned bytes : {1u, 2u, 4u, 8u})
    for (unsigned columns = 16 / bytes; columns <= 512 / bytes; columns *= 2)
      for (unsigned rows = 1; rows <= 256; rows *= 4)
        for (unsigned minor : {0u, 1u}) {
          int64_t shape[2];
          shape[minor] = columns, shape[1 - minor] = rows;
          LinearLayout tile = swizzledTile(shape, minor, bytes);
          ASSERT_TRUE(tile.isInvertible());
          LinearLayout offsets = tile.invert();
          for (unsigned row = 0; row < rows; ++row)
            for (unsigned column = 0; column < columns; ++column) {
              Position at{{Dim::dim(minor), int32_t(column)}, {Dim::dim(1 - minor), int32_t(row)}};
              ASSERT_EQ(unsigned(offsets.apply(at).front().second) * bytes,
                        hardwareByte(row, column, rows, columns, bytes))
                  << rows << " x " << columns << " of " << bytes << " bytes, minor " << minor
                  << ", at " << row << ", " << column;
            }
        }
}

TEST(SwizzledTile, IsRecognised) {
  for (unsigned bytes : {1u, 2u, 4u})
    for (int64_t columns = 16 / bytes; columns <= 256; columns *= 2)
      for (int64_t rows = 16 / bytes; rows <= 256; rows *= 2)
        for (unsigned minor : {0u, 1u}) {
          int64_t shape[2] = {rows, columns};
          LinearLayout tile = swizzledTile(shape, minor, bytes);
          std::optional<unsigned> found = minorOfSwizzledTile(tile, bytes);
          ASSERT_TRUE(found);
          // Whatever it says must describe the same image.
          EXPECT_EQ(swizzledTile(shape, *found, bytes), tile);
          EXPECT_EQ(*found, minor);
        }
}

TEST(SwizzledTile, IsNotSeenWhereItIsNot) {
  // Rows one after the other, without a pattern.
  LinearLayout rowMajor = LinearLayout::identity1D(64 * 64, Dim::offset(), D1)
                              .reshapeOuts({{D1, 64}, {D0, 64}})
                              .transposeOuts({D0, D1});
  EXPECT_FALSE(minorOfSwizzledTile(rowMajor, 2));
  // The image for another size of element: the pattern is in bytes.
  EXPECT_FALSE(minorOfSwizzledTile(swizzledTile({64, 64}, 1, 4), 2));
  EXPECT_FALSE(minorOfSwizzledTile(swizzledTile({64, 64}, 1, 2), 1));
  // Too few bytes along the contiguous dimension, and other ranks.
  EXPECT_FALSE(minorOfSwizzledTile(LinearLayout::identity1D(16, Dim::offset(), D0), 2));
  EXPECT_FALSE(
      minorOfSwizzledTile(LinearLayout::identity1D(16, Dim::offset(), D0) *
                              LinearLayout::identity1D(4, Dim::offset(), D1), // 4 columns of 2
                          2) == 1u);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

struct Place {
  int32_t reg, lane, warp;
};

std::pair<int32_t, int32_t> elementAt(const LinearLayout &l, Place p) {
  Position out = l.apply({{Dim::reg(), p.reg}, {Dim::lane(), p.lane}, {Dim::warp(), p.warp}});
  EXPECT_EQ(out[0].first, D0);
  return {out[0].second, out[1].second};
}

/// How warpgroups share a block of m x n: rows first, then columns.
struct Sharing {
  int64_t alongM, alongN;
  Sharing(int64_t m, int64_t n, unsigned warps)
      : alongM(std::min<int64_t>(m / 64, warps / 4)),
        alongN(std::min<int64_t>(warps / 4 / alongM, n / 8)) {}
};

TEST(WarpgroupAccumulator, IsWhereTheInstructionsLeaveIt) {
  for (unsigned warps : {4u, 8u, 16u})
    for (int64_t m = 64; m <= 256; m *= 2)
      for (int64_t n = 8; n <= 512; n *= 2) {
        LinearLayout l = warpgroupAccumulator(m, n, warps);
        Sharing share(m, n, warps);
        EXPECT_EQ(warpgroupsAlongM(m, warps), share.alongM);
        int64_t columns = n / share.alongN, blocks = m / 64 / share.alongM;
        ASSERT_EQ(l.inSize(Dim::reg()), blocks * columns / 2) << m << "x" << n << " " << warps;
        ASSERT_EQ(l.inSize(Dim::warp()), int32_t(warps));
        ASSERT_TRUE(l.isSurjective());
        for (int32_t warp = 0; warp < int32_t(warps); ++warp)
          for (int32_t lane = 0; lane < 32; ++lane)
            for (int64_t block = 0; block < blocks; ++block)
              for (int32_t d = 0; d < columns / 2; ++d) { // 4 j + 2 h + e
                int64_t group = warp / 4, e = d & 1, h = d >> 1 & 1, j = d >> 2;
                int64_t row = 64 * (block * share.alongM + group % share.alongM) + 16 * (warp % 4) +
                              lane / 4 + 8 * h;
                int64_t column =
                    group / share.alongM % share.alongN * columns + 8 * j + 2 * (lane % 4) + e;
                auto at = elementAt(l, {int32_t(block * columns / 2 + d), lane, warp});
                ASSERT_EQ(at, std::pair(int32_t(row), int32_t(column)))
                    << m << "x" << n << ", " << warps << " warps, warp " << warp << " lane " << lane
                    << " register " << d << " of block " << block;
              }
      }
}

TEST(WarpgroupOperandA, IsWhatTheInstructionsExpect) {
  for (unsigned bytes : {1u, 2u, 4u})
    for (unsigned warps : {4u, 8u, 16u})
      for (int64_t m = 64; m <= 256; m *= 2)
        for (int64_t k = 32 / bytes; k <= 128; k *= 2) {
          int64_t n = 64, per = 4 / bytes, steps = k * bytes / 32;
          LinearLayout l = warpgroupOperandA(m, k, n, bytes, warps);
          Sharing share(m, n, warps);
          int64_t blocks = m / 64 / share.alongM;
          ASSERT_EQ(l.inSize(Dim::reg()), blocks * steps * 4 * per);
          ASSERT_TRUE(l.isSurjective());
          for (int32_t warp = 0; warp < int32_t(warps); ++warp)
            for (int32_t lane = 0; lane < 32; ++lane)
              for (int64_t reg = 0; reg < l.inSize(Dim::reg()); ++reg) {
                int64_t e = reg % per, i = reg / per % 4, step = reg / per / 4 % steps;
                int64_t block = reg / per / 4 / steps, group = warp / 4 % share.alongM;
                int64_t row =
                    64 * (block * share.alongM + group) + 16 * (warp % 4) + lane / 4 + 8 * (i & 1);
                int64_t column = (step * 8 + lane % 4 + 4 * (i >> 1)) * per + e;
                ASSERT_EQ(elementAt(l, {int32_t(reg), lane, warp}),
                          std::pair(int32_t(row), int32_t(column)))
                    << bytes << " bytes, " << m << "x" << k << ", " << warps << " warps";
              }
        }
}

/// An accumulator that is the left operand of the next product stays where it
/// is, up to the order of registers, for 16-bit elements.
TEST(WarpgroupOperandA, OfSixteenBitsIsHeldLikeTheAccumulator) {
  LinearLayout acc = warpgroupAccumulator(64, 64, 4), a = warpgroupOperandA(64, 64, 64, 2, 4);
  for (Dim dim : {Dim::lane(), Dim::warp()})
    EXPECT_TRUE(acc.rows(dim) == a.rows(dim));
}

} // namespace
