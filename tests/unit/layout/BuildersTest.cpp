//===- BuildersTest.cpp - layouts follow the elements through shape ops ---===//
#include "ir/layout/Builders.h"
#include "RandomLayout.h"
#include "gtest/gtest.h"

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

const Dim R = Dim::reg(), L = Dim::lane(), W = Dim::warp();

llvm::SmallVector<int64_t> coordinates(const LinearLayout &l, uint64_t packedIn) {
  llvm::SmallVector<int64_t> result;
  uint64_t out = l.image(packedIn);
  for (const DimValue &d : l.outs()) {
    result.push_back(out & (d.second - 1));
    out >>= log2Exact(d.second);
  }
  return result;
}

int64_t rowMajor(llvm::ArrayRef<int64_t> at, llvm::ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    index = index * shape[i] + at[i];
  return index;
}

TEST(Blocked, FitsTheShape) {
  EXPECT_EQ(blocked({32}, {2}, {4}, {2}, {0}).str(),
            "{register = [[1], [16]], lane = [[2], [4]], warp = [[8]]}");
}
TEST(Blocked, TooLargeLeavesCopiesInLanesAndWarps) {
  EXPECT_EQ(blocked({4}, {2}, {4}, {2}, {0}).str(),
            "{register = [[1]], lane = [[2], [0]], warp = [[0]]}");
  EXPECT_EQ(blocked({1}, {2}, {2}, {1}, {0}).str(), "{register = [], lane = [[0]], warp = []}");
}
TEST(Blocked, TwoDimensionsInOrder) {
  EXPECT_EQ(blocked({4, 8}, {1, 2}, {2, 4}, {1, 1}, {1, 0}).str(),
            "{register = [[0, 1], [2, 0]], lane = [[0, 2], [0, 4], [1, 0]], warp = []}");
  EXPECT_EQ(blocked({4, 8}, {2, 1}, {2, 4}, {1, 1}, {0, 1}).str(),
            "{register = [[1, 0], [0, 4]], lane = [[2, 0], [0, 1], [0, 2]], warp = []}");
}
TEST(Spread, VectorThenLanesThenWarpsThenRepeats) {
  EXPECT_EQ(spread({2048}, 4, 4, {0}).str(),
            "{register = [[1], [2], [512], [1024]], lane = [[4], [8], [16], [32], [64]], "
            "warp = [[128], [256]]}");
}
TEST(Spread, SmallBlocksAndScalars) {
  EXPECT_EQ(spread({16}, 4, 2, {0}).str(),
            "{register = [[1], [2]], lane = [[4], [8], [0], [0], [0]], warp = [[0]]}");
  EXPECT_EQ(defaultLayout({}, 1).str(), "{register = [], lane = [[], [], [], [], []], warp = []}");
}

TEST(BuildersLaws, EveryBlockedLayoutCoversTheBlockAndWastesNoRegister) {
  RandomLayouts random(11);
  auto counts = [&](unsigned rank, unsigned most) {
    llvm::SmallVector<unsigned> result;
    for (unsigned i = 0; i < rank; ++i)
      result.push_back(1u << random.upTo(most));
    return result;
  };
  for (int i = 0; i < 2000; ++i) {
    unsigned rank = 1 + random.upTo(2);
    llvm::SmallVector<int64_t> shape;
    llvm::SmallVector<unsigned> order;
    for (unsigned d = 0; d < rank; ++d) {
      shape.push_back(1 << random.upTo(5));
      order.push_back(d);
    }
    std::shuffle(order.begin(), order.end(), random.engine);
    LinearLayout l = blocked(shape, counts(rank, 3), counts(rank, 2), counts(rank, 1), order);
    EXPECT_TRUE(l.isSurjective());
    EXPECT_EQ(l.freeBits() & l.inMask(R), 0u);
  }
}

class ShapeOps : public ::testing::Test {
protected:
  RandomLayouts random{12};
  llvm::SmallVector<int64_t> shape;
  LinearLayout next(unsigned rank) {
    shape.clear();
    Position outs;
    for (unsigned d = 0; d < rank; ++d) {
      shape.push_back(1 << random.upTo(3));
      outs.push_back({Dim::dim(d), int32_t(shape.back())});
    }
    return random.distributed(outs, 3, 1, random.coin());
  }
  static uint64_t positions(const LinearLayout &l) { return 1ull << l.totalInSizeLog2(); }
};

TEST_F(ShapeOps, ReshapeKeepsRowMajorIndices) {
  for (int i = 0; i < 1000; ++i) {
    LinearLayout l = next(3);
    llvm::SmallVector<int64_t> flat = {shape[0] * shape[1], shape[2]};
    LinearLayout r = reshape(l, flat);
    for (uint64_t x = 0; x < positions(l); ++x)
      EXPECT_EQ(rowMajor(coordinates(l, x), shape), rowMajor(coordinates(r, x), flat));
    EXPECT_EQ(reshape(r, shape), l);
  }
}

TEST_F(ShapeOps, TransposePermutesCoordinates) {
  for (int i = 0; i < 1000; ++i) {
    LinearLayout l = next(3);
    LinearLayout t = transpose(l, {2, 0, 1});
    EXPECT_EQ(shapeOf(t), (llvm::SmallVector<int64_t, 4>{shape[2], shape[0], shape[1]}));
    for (uint64_t x = 0; x < positions(l); ++x) {
      auto a = coordinates(l, x), b = coordinates(t, x);
      EXPECT_EQ(b, (llvm::SmallVector<int64_t>{a[2], a[0], a[1]}));
    }
    EXPECT_EQ(transpose(t, {1, 2, 0}), l);
  }
}

TEST_F(ShapeOps, SliceDropsACoordinate) {
  for (int i = 0; i < 1000; ++i) {
    LinearLayout l = next(3);
    LinearLayout s = sliceAxis(l, 1);
    EXPECT_TRUE(s.isSurjective());
    EXPECT_EQ(shapeOf(s), (llvm::SmallVector<int64_t, 4>{shape[0], shape[2]}));
    for (int32_t bit = 0; bit < l.inSizeLog2(L); ++bit) {
      Basis b = l.basis(L, bit);
      EXPECT_EQ(s.basis(L, bit), (Basis{b[0], b[2]}));
    }
    // Inserting and removing a dimension of one is the identity.
    EXPECT_EQ(sliceAxis(expandDims(l, 2), 2), l.removeZeroBases(R));
  }
}

TEST(WithoutCopiesOfWarps, SharesRegistersOut) {
  // Of what four warps had a part of each, all have all once it is added up.
  LinearLayout all = sliceAxis(blocked({4, 8}, {1, 8}, {1, 1}, {4, 1}, {1, 0}), 0);
  EXPECT_EQ(all.str(), "{register = [[1], [2], [4]], lane = [], warp = [[0], [0]]}");
  LinearLayout shared = withoutCopiesOfWarps(all);
  EXPECT_EQ(shared.str(), "{register = [[1]], lane = [], warp = [[4], [2]]}");
  EXPECT_EQ(withoutCopiesOfWarps(shared), shared);
}
TEST(WithoutCopiesOfWarps, LeavesCopiesWhereRegistersDoNotReach) {
  LinearLayout all = blocked({2}, {2}, {1}, {4}, {0});
  EXPECT_EQ(withoutCopiesOfWarps(all).str(), "{register = [], lane = [], warp = [[1], [0]]}");
}

TEST_F(ShapeOps, BroadcastOperandReadsWithinTheThread) {
  for (int i = 0; i < 1000; ++i) {
    LinearLayout l = next(2);
    LinearLayout o = broadcastOperand(l, {shape[0], 1});
    EXPECT_TRUE(o.isSurjective());
    EXPECT_EQ(shapeOf(o), (llvm::SmallVector<int64_t, 4>{shape[0], 1}));
    for (Dim d : {L, W})
      for (int32_t bit = 0; bit < l.inSizeLog2(d); ++bit)
        EXPECT_EQ(o.basis(d, bit), (Basis{l.basis(d, bit)[0], 0}));
    LinearLayout back = broadcastResult(o, shape);
    EXPECT_TRUE(back.isSurjective());
    EXPECT_EQ(broadcastOperand(back, {shape[0], 1}), o);
  }
}

TEST_F(ShapeOps, JoinPutsHalvesSideBySideAndSplitUndoesIt) {
  for (int i = 0; i < 1000; ++i) {
    LinearLayout l = next(2).removeZeroBases(R);
    LinearLayout j = join(l);
    EXPECT_EQ(j.basis(R, 0), (Basis{0, 0, 1}));
    auto s = split(j);
    ASSERT_TRUE(s);
    EXPECT_EQ(s->half, l);
    EXPECT_EQ(s->registerBit, 0u);
  }
  // A pair that is spread over lanes cannot be split in place.
  EXPECT_FALSE(split(defaultLayout({16, 2}, 1)));
}

} // namespace
