//===- SwizzleTest.cpp - vectors and bank conflicts -----------------------===//
#include "ir/layout/Swizzle.h"
#include "RandomLayout.h"
#include "ir/layout/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

const Dim R = Dim::reg(), L = Dim::lane(), W = Dim::warp(), O = Dim::offset();
const Dim D0 = Dim::dim(0), D1 = Dim::dim(1);

/// Wavefronts counted the slow way: every vector of every register, each lane's
/// bytes, bank by bank.
unsigned bruteForceWavefronts(const LinearLayout &access, const LinearLayout &shared,
                              unsigned elementBytes, unsigned maxLog2) {
  LinearLayout offsets = offsetsOf(access, shared);
  VectorAccess vector = widestVector(offsets, O, maxLog2);
  unsigned bytes = elementBytes << vector.log2();
  unsigned lanesAtOnce = std::min(32u, 128 / std::max(bytes, 4u));
  unsigned total = 0;
  for (int32_t first : vector.firstRegisters)
    for (unsigned lane0 = 0; lane0 < 32; lane0 += lanesAtOnce) {
      std::map<uint64_t, std::set<uint64_t>> banks;
      for (unsigned lane = lane0; lane < lane0 + lanesAtOnce; ++lane)
        for (unsigned k = 0; k < 1u << vector.log2(); ++k) {
          uint64_t reg = vector.registerAt(first, k);
          uint64_t offset = offsets.image(reg | uint64_t(lane) << offsets.inSizeLog2(R));
          for (unsigned b = 0; b < elementBytes; ++b) {
            uint64_t word = (offset * elementBytes + b) / 4;
            banks[word % 32].insert(word);
          }
        }
      size_t worst = 0;
      for (auto &[bank, words] : banks)
        worst = std::max(worst, words.size());
      total += worst;
    }
  return total;
}

unsigned limitFor(unsigned elementBytes) { return log2Exact(16 / elementBytes); }

TEST(WidestVector, AlongTheFastDimension) {
  LinearLayout l = blocked({64, 64}, {2, 4}, {4, 8}, {2, 1}, {1, 0});
  EXPECT_EQ(widestVector(l, D1, 4).log2(), 2u);
  EXPECT_EQ(widestVector(l, D1, 1).log2(), 1u);
  EXPECT_EQ(widestVector(l, D0, 4).log2(), 1u);
  EXPECT_EQ(widestVector(l, O, 4).log2(), 0u);
}

TEST(WidestVector, GroupsAreConsecutiveAndCoverAllRegisters) {
  RandomLayouts random(31);
  for (int i = 0; i < 2000; ++i) {
    Position outs = random.dims({D0, D1}, 4);
    LinearLayout l = random.distributed(outs, 2, 1, random.coin());
    VectorAccess v = widestVector(l, D1, 3);
    std::set<int32_t> seen;
    for (int32_t first : v.firstRegisters)
      for (unsigned k = 0; k < 1u << v.log2(); ++k) {
        int32_t reg = v.registerAt(first, k);
        EXPECT_TRUE(seen.insert(reg).second);
        for (int32_t lane = 0; lane < 4; ++lane) {
          auto at = l.apply({{R, reg}, {L, lane}}), base = l.apply({{R, first}, {L, lane}});
          EXPECT_EQ(at[0].second, base[0].second);
          EXPECT_EQ(at[1].second, base[1].second + int32_t(k));
          EXPECT_EQ(base[1].second % (1 << v.log2()), 0);
        }
      }
    EXPECT_EQ(int32_t(seen.size()), l.inSize(R));
  }
}

/// Wavefronts and instructions of one side.
unsigned costOf(const LinearLayout &side, unsigned wavefronts, unsigned vectorLog2) {
  return wavefronts + (unsigned(side.inSize(R)) >> vectorLog2);
}

/// The laws of a swizzle. With `unitary` layouts (one coordinate bit a thread
/// bit) the registers that both sides hold must become vectors without any
/// conflict; wider vectors on one side may only make it cheaper.
void checkSwizzle(const LinearLayout &write, const LinearLayout &read, unsigned elementBytes,
                  bool unitary) {
  SharedLayout s = optimalSwizzle(write, read, elementBytes);
  ASSERT_TRUE(s.layout.isInvertible());
  unsigned limit = limitFor(elementBytes), cost = 0, bound = 0;
  unsigned common = 0;
  for (uint64_t row : write.rows(R))
    common += row && llvm::is_contained(read.rows(R), row);
  common = std::min(common, limit);
  for (bool isWrite : {true, false}) {
    const LinearLayout &side = isWrite ? write : read;
    unsigned log2 = isWrite ? s.writeVectorLog2 : s.readVectorLog2;
    EXPECT_EQ(widestVector(offsetsOf(side, s.layout), O, limit).log2(), log2);
    unsigned counted = countWavefronts(side, s.layout, elementBytes, log2);
    EXPECT_EQ(counted, bruteForceWavefronts(side, s.layout, elementBytes, limit));
    cost += costOf(side, counted, log2);
    bound += costOf(side, idealWavefronts(side, elementBytes, common), common);
    if (unitary) {
      EXPECT_GE(log2, common);
    }
  }
  if (unitary) {
    EXPECT_LE(cost, bound) << write.str() << "\n" << read.str() << "\n" << s.layout.str();
  }
}

TEST(Swizzle, TransposeOfATileIsFreeOfConflicts) {
  for (unsigned bytes : {1u, 2u, 4u, 8u})
    for (unsigned vector : {1u, 2u, 4u, 8u}) {
      LinearLayout rows = spread({64, 64}, vector, 4, {1, 0});
      LinearLayout columns = spread({64, 64}, vector, 4, {0, 1});
      checkSwizzle(rows, columns, bytes, true);
      checkSwizzle(columns, rows, bytes, true);
      checkSwizzle(rows, rows, bytes, true);
    }
}

TEST(Swizzle, OneSideMayGoWider) {
  LinearLayout wide = spread({256}, 8, 1, {0}), narrow = spread({256}, 1, 1, {0});
  SharedLayout s = optimalSwizzle(wide, narrow, 2);
  EXPECT_EQ(s.writeVectorLog2, 3u);
  EXPECT_EQ(s.readVectorLog2, 0u);
  EXPECT_EQ(countWavefronts(wide, s.layout, 2, 3), idealWavefronts(wide, 2, 3));
  EXPECT_EQ(countWavefronts(narrow, s.layout, 2, 0), idealWavefronts(narrow, 2, 0));
}

TEST(Swizzle, CountSeesTheConflictsOfAPlainLayout) {
  // A row of 32 words a lane: all lanes in one bank.
  LinearLayout rows = spread({32, 32}, 1, 1, {0, 1});
  LinearLayout plain = LinearLayout::identity1D(32, O, D1) * LinearLayout::identity1D(32, O, D0);
  plain = plain.transposeOuts({D0, D1});
  EXPECT_EQ(countWavefronts(rows, plain, 4, 0), 32u * 32u);
  EXPECT_EQ(bruteForceWavefronts(rows, plain, 4, 0), 32u * 32u);
  // With 16-byte vectors a wavefront serves 8 lanes, still all in 4 banks.
  EXPECT_EQ(countWavefronts(rows, plain, 4, 2), 8u * 4u * 8u);
  SharedLayout s = optimalSwizzle(rows, spread({32, 32}, 1, 1, {1, 0}), 4);
  EXPECT_EQ(countWavefronts(rows, s.layout, 4, s.writeVectorLog2), 32u);
}

TEST(SwizzleLaws, RandomLayouts) {
  RandomLayouts random(32);
  for (int i = 0; i < 3000; ++i) {
    Position outs = random.dims({D0, D1}, 6);
    unsigned bytes = 1 << random.upTo(3), warps = random.upTo(2);
    bool unitary = random.upTo(3) != 0;
    checkSwizzle(random.distributed(outs, 5, warps, unitary),
                 random.distributed(outs, 5, warps, unitary), bytes, unitary);
  }
}

} // namespace
