//===- ChainCut.cpp - how a chain of products is cut into blocks -----------===//
#include "compiler/functions/ChooseCut.h"
#include "target/Devices.h"
#include "target/Tuning.h"
#include "llvm/Support/MathExtras.h"

using namespace tile;
using namespace tile::graph;

/// Rows of a program of a chain, most first, and the warps that compute them: 16 of each warp,
/// but of a few rows warps share the columns.
namespace {
struct ChainBlock {
  int64_t rows;
  int warps;
};
} // namespace
static constexpr ChainBlock kChainBlocks[] = {{128, 8}, {64, 4}, {16, 4}};
/// Columns of scores that a turn computes, most first.
static constexpr int64_t kChainTurns[] = {128, 64, 32, 16};

static int64_t bytesOfChain(const KernelShape &shape) {
  graph::MatmulOp second = shape.product->op;
  auto bytes = [](graph::MatmulOp of) {
    return std::max<int64_t>(bytesOf(of.getLhs().getType().getElement()),
                             bytesOf(of.getRhs().getType().getElement()));
  };
  int64_t most = bytes(second);
  for (graph::MatmulOp first : shape.product->chain->of.firsts)
    most = std::max(most, bytes(first));
  return most;
}

static bool drawsNumbers(const KernelShape &shape) {
  return llvm::any_of(shape.op->getRegion(0).getOps<graph::MapOp>(),
                      [](graph::MapOp op) { return op.getKind() == graph::MapKind::philox; });
}

/// The most columns a turn for these rows that registers and shared memory have room for; 0: none.
static int64_t turnOfChain(const KernelShape &shape, const ChainBlock &block, int64_t depth,
                           int64_t columns, const Target &target) {
  const Tuning &tuning = tuningOf(target);
  auto firsts = int64_t(shape.product->chain->firsts.size());
  int64_t bytes = bytesOfChain(shape), toDraw = drawsNumbers(shape) ? tuning.registersToDraw : 0;
  int64_t threads = block.warps * int64_t(kLanes);
  bool fromRegisters = bytes >= 4; // operands of such products, so that more cost more
  for (int64_t turn : kChainTurns) {
    int64_t registers = block.rows * (columns + firsts * turn) / threads +
                        block.rows * turn / threads / 2 + block.rows * turn / threads * toDraw;
    int64_t shared = bytes * (firsts * block.rows * depth +
                              tuning.chainStages * turn * (firsts * depth + columns));
    if (registers <= (fromRegisters ? tuning.registersForChain / 2 : tuning.registersForChain) &&
        shared <= target.maxSharedBytes)
      return turn;
  }
  return 0;
}

/// As many rows as leave work for all of the chip, so that the right operands are read least; where
/// nothing does, as few as run at once.
void tile::cutChain(Cut &cut, const KernelShape &shape, const Extents &of, const Target &target) {
  int64_t atOnce = deviceLike(target.capability).multiprocessors;
  auto programsOf = [&](const ChainBlock &block) {
    uint64_t blocks = llvm::divideCeil(uint64_t(std::max<int64_t>(of.rows, 1)), block.rows);
    return llvm::SaturatingMultiply(blocks, uint64_t(of.batch));
  };
  cut.depth = std::max(powerOfTwo(of.depth), kLeastBlock);
  cut.block = std::max(powerOfTwo(of.columns), kLeastBlock);
  for (const ChainBlock &block : kChainBlocks) {
    int64_t turn = turnOfChain(shape, block, cut.depth, cut.block, target);
    if (turn == 0)
      continue;
    cut.rows = block.rows;
    cut.inner = std::min(turn, std::max(powerOfTwo(of.inner), kLeastBlock));
    cut.warps = block.warps;
    const ChainBlock *next = &block + 1;
    bool isLast = next == std::end(kChainBlocks) || programsOf(*next) > uint64_t(atOnce);
    if (programsOf(block) >= uint64_t(atOnce) || (of.rows > block.rows / 2 && isLast))
      break;
  }
  cut.oneBlock = true;
  cut.evenInner = of.inner % cut.inner == 0;
  cut.evenDepth = of.depth % cut.depth == 0 && of.leastDepth % cut.depth == 0;
}

bool tile::chainFits(const KernelShape &shape, const Extents &of, const Target &target) {
  if (of.leastDepth < 1 || of.inner < 1 || of.columns < 1)
    return false; // sums of nothing
  int64_t depth = std::max(powerOfTwo(of.depth), kLeastBlock);
  int64_t columns = std::max(powerOfTwo(of.columns), kLeastBlock);
  return llvm::any_of(kChainBlocks, [&](const ChainBlock &block) {
    return block.rows >= 64 && turnOfChain(shape, block, depth, columns, target) > 0;
  });
}

void tile::chainCuts(const KernelShape &shape, const Cut &cut, const Extents &of,
                     const Target &target, std::vector<TensorCut> &out) {
  int64_t longest = std::max(powerOfTwo(of.inner), kLeastBlock);
  for (const ChainBlock &block : kChainBlocks) {
    int64_t most = std::min(longest, turnOfChain(shape, block, cut.depth, cut.block, target));
    for (int64_t turn : {most, most / 2})
      if (turn >= kLeastBlock)
        out.push_back({block.rows, cut.block, turn, 1, block.warps, cut.stages});
  }
}
