//===- CarriedBlocks.cpp - blocks that grow by a number of each turn ------===//
#include "passes/tile/CarriedBlocks.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

/// The number that a turn adds to all of a carried block; null if that is not what it does, or if
/// the number is the same in all turns, which is told from the loop's counter.
static Value gainOf(scf::ForOp loop, unsigned index) {
  Value carried = loop.getRegionIterArg(index);
  auto type = dyn_cast<RankedTensorType>(carried.getType());
  if (!type || !type.getElementType().isInteger())
    return {};
  auto sum = loop.getYieldedValues()[index].getDefiningOp<arith::AddIOp>();
  if (!sum || (sum.getLhs() == carried) == (sum.getRhs() == carried))
    return {};
  auto gain = (sum.getLhs() == carried ? sum.getRhs() : sum.getLhs()).getDefiningOp<SplatOp>();
  return gain && !loop.isDefinedOutsideOfLoop(gain.getSrc()) ? gain.getSrc() : Value();
}

/// `block`, to each element of which `number` is added.
static Value moved(OpBuilder &b, Location loc, Value block, Value number) {
  Value all = SplatOp::create(b, loc, block.getType(), number);
  return arith::AddIOp::create(b, loc, block, all);
}

static unsigned carrySumsOf(scf::ForOp loop, IRRewriter &b) {
  SmallVector<unsigned> blocks;
  SmallVector<Value> gains, zeros;
  b.setInsertionPoint(loop);
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    if (Value gain = gainOf(loop, i)) {
      blocks.push_back(i);
      gains.push_back(gain);
      zeros.push_back(arith::ConstantOp::create(b, loop.getLoc(), b.getZeroAttr(gain.getType())));
    }
  if (blocks.empty())
    return 0;
  auto sumsOf = [&](OpBuilder &yield, Location loc, ArrayRef<BlockArgument> sums) {
    SmallVector<Value> next;
    for (auto [sum, gain] : llvm::zip_equal(sums, gains))
      next.push_back(arith::AddIOp::create(yield, loc, sum, gain));
    return next;
  };
  auto wider = cast<scf::ForOp>(*cast<LoopLikeOpInterface>(loop.getOperation())
                                     .replaceWithAdditionalYields(b, zeros, false, sumsOf));
  unsigned first = wider.getNumRegionIterArgs() - blocks.size();
  for (auto [i, block] : llvm::enumerate(blocks)) {
    Value before = wider.getInitArgs()[block];
    BlockArgument carried = wider.getRegionIterArg(block);
    b.setInsertionPointToStart(wider.getBody());
    b.replaceAllUsesWith(
        carried, moved(b, wider.getLoc(), before, wider.getRegionIterArg(first + unsigned(i))));
    wider.getBody()->getTerminator()->setOperand(block, carried); // canonicalised away
    b.setInsertionPointAfter(wider);
    b.replaceAllUsesWith(wider.getResult(block),
                         moved(b, wider.getLoc(), before, wider.getResult(first + unsigned(i))));
  }
  return blocks.size();
}

unsigned tile::carrySums(func::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  IRRewriter b(kernel.getContext());
  unsigned count = 0;
  for (scf::ForOp loop : loops)
    count += carrySumsOf(loop, b);
  return count;
}
