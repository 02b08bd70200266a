//===- MatrixAccessTest.cpp - ldmatrix and stmatrix as layouts ------------===//
//
// The instructions are simulated as the hardware defines them: what each lane
// receives must be the element that its layout says it holds.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/MatrixAccess.h"
#include "RandomLayout.h"
#include "ir/layout/Builders.h"
#include "gtest/gtest.h"

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

using llvm::SmallVector;
const Dim R = Dim::reg(), L = Dim::lane(), W = Dim::warp();
const Dim D0 = Dim::dim(0), D1 = Dim::dim(1);

/// An operand fragment as matrix instructions take it, repeated over registers
/// and warps: pairs (or more) of consecutive elements along `inner`.
LinearLayout operand(unsigned packed, Dim inner, Dim outer, unsigned repeatInner,
                     unsigned repeatOuter, unsigned warps) {
  return LinearLayout::identity1D(packed, R, inner) * LinearLayout::identity1D(4, L, inner) *
         LinearLayout::identity1D(8, L, outer) * LinearLayout::identity1D(2, R, outer) *
         LinearLayout::identity1D(repeatInner, R, inner) *
         LinearLayout::identity1D(repeatOuter, R, outer) *
         LinearLayout::identity1D(warps, W, outer);
}

uint64_t packed(const LinearLayout &l, uint64_t reg, uint64_t lane, uint64_t warp) {
  return reg | lane << l.inSizeLog2(R) | warp << (l.inSizeLog2(R) + l.inSizeLog2(L));
}

/// Simulates every instruction of the access for every lane.
void expectRightElements(const MatrixAccess &access, const LinearLayout &offsets,
                         unsigned elementBytes) {
  unsigned perRow = 16 / elementBytes, perWord = 1u << access.elementMasks.size();
  std::vector<int> seen(offsets.inSize(R), 0);
  for (int32_t warp = 0; warp < offsets.inSize(W); ++warp)
    for (auto [g, first] : llvm::enumerate(access.firstRegisters))
      for (unsigned matrix = 0; matrix < access.numMatrices(); ++matrix)
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned e = 0; e < perWord; ++e) {
            unsigned row = access.transposed ? 2 * (lane % 4) + e : lane / 4;
            unsigned column = access.transposed ? lane / 4 : lane % 4 * perWord + e;
            uint64_t start =
                access.addresses.image(packed(access.addresses, g, matrix * 8 + row, warp));
            ASSERT_EQ(start % perRow, 0u) << "rows are aligned";
            int32_t reg = access.registerAt(first, matrix, e);
            ASSERT_EQ(start + column, offsets.image(packed(offsets, reg, lane, warp)));
            seen[reg] += warp == 0 && lane == 0;
          }
  for (int count : seen)
    ASSERT_EQ(count, 1) << "each register once";
}

TEST(MatrixAccess, GivesEachLaneItsElements) {
  RandomLayouts random(7);
  unsigned matrices = 0, stores = 0;
  for (int i = 0; i < 3000; ++i) {
    unsigned bytes = 1u << random.upTo(2), packedElements = 4 / bytes;
    bool rowsInner = random.coin();
    LinearLayout to = operand(packedElements, rowsInner ? D1 : D0, rowsInner ? D0 : D1,
                              1u << random.upTo(2), 1u << random.upTo(2), 1u << random.upTo(2))
                          .transposeOuts({D0, D1});
    // A coalesced writer along either dimension.
    SmallVector<int64_t, 4> shape = shapeOf(to);
    unsigned vector = 1u << random.upTo(log2Exact(16 / bytes));
    unsigned fast = random.upTo(1);
    LinearLayout from = spread(shape, vector, to.inSize(W), {fast, 1 - fast});
    Exchange plan = planExchange(from, to, bytes, {/*load=*/true, /*store=*/false});
    EXPECT_FALSE(plan.write);
    if (!plan.read)
      continue;
    ++matrices;
    expectRightElements(*plan.read, offsetsOf(to, plan.shared.layout), bytes);
    Exchange back = planExchange(to, from, bytes, {/*load=*/false, /*store=*/true});
    stores += back.write.has_value();
    if (back.write)
      expectRightElements(*back.write, offsetsOf(to, back.shared.layout), bytes);
  }
  EXPECT_GT(matrices, 700u);
  EXPECT_GT(stores, 700u);
}

/// The operands of a 16-bit product, from coalesced loads of 16 bytes: both are
/// read by matrices, four at a time, and neither side has bank conflicts.
TEST(MatrixAccess, OperandsOfProductsAreFreeOfConflicts) {
  struct Case {
    unsigned inner; ///< the dimension along which pairs lie
    unsigned fast;  ///< the dimension that is contiguous in memory
    bool transposed;
  };
  for (Case c : {Case{1, 1, false}, Case{1, 0, true}, Case{0, 0, false}, Case{0, 1, true}}) {
    LinearLayout to =
        operand(2, Dim::dim(c.inner), Dim::dim(1 - c.inner), 4, 2, 4).transposeOuts({D0, D1});
    LinearLayout from = spread(shapeOf(to), 8, 4, {c.fast, 1 - c.fast});
    Exchange plan = planExchange(from, to, 2, {true, false});
    ASSERT_TRUE(plan.read) << c.inner << c.fast;
    EXPECT_EQ(plan.read->transposed, c.transposed);
    EXPECT_EQ(plan.read->numMatrices(), 4u);
    const LinearLayout &shared = plan.shared.layout;
    EXPECT_EQ(widestVector(offsetsOf(from, shared), Dim::offset(), 3).log2(), 3u);
    EXPECT_EQ(countWavefronts(from, shared, 2, 3), idealWavefronts(from, 2, 3));
    // Each matrix is one wavefront: its eight rows fill all banks.
    std::set<uint64_t> banks;
    for (uint64_t lane = 0; lane < 8; ++lane)
      banks.insert(plan.read->addresses.image(packed(plan.read->addresses, 0, lane, 0)) / 8 % 8);
    EXPECT_EQ(banks.size(), 8u);
  }
}

TEST(MatrixAccess, RefusesWhatTheInstructionCannotHold) {
  LinearLayout offsets = operand(2, D1, D0, 1, 1, 1).reshapeOuts({{Dim::offset(), 128}});
  EXPECT_TRUE(matrixAccess(offsets, 2, false));
  // Lanes 0 and 1 swapped.
  SmallVector<uint64_t, 16> rows(offsets.rows());
  std::swap(rows[2], rows[3]);
  EXPECT_FALSE(matrixAccess(LinearLayout::fromRows(offsets.ins(), offsets.outs(), rows), 2, false));
  // 64-bit elements; a transposed access of bytes.
  EXPECT_FALSE(matrixAccess(offsets, 8, false));
  EXPECT_FALSE(matrixAccess(offsets, 1, true));
}

} // namespace
