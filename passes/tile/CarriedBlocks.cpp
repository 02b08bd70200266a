//===- CarriedBlocks.cpp - blocks that grow by a number of each turn ------===//
#include "passes/tile/CarriedBlocks.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

/// The number that a turn adds to all of a carried block of integers or pointers; null if that is
/// not what it does, or if the number is the same in all turns, which is told from the loop's
/// counter.
static Value gainOf(scf::ForOp loop, unsigned index) {
  Value carried = loop.getRegionIterArg(index);
  auto type = dyn_cast<RankedTensorType>(carried.getType());
  if (!type)
    return {};
  Operation *sum = loop.getYieldedValues()[index].getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, AddPtrOp>(sum) ||
      (sum->getOperand(0) == carried) == (sum->getOperand(1) == carried))
    return {};
  auto gain = sum->getOperand(sum->getOperand(0) == carried ? 1 : 0).getDefiningOp<SplatOp>();
  return gain && !loop.isDefinedOutsideOfLoop(gain.getSrc()) ? gain.getSrc() : Value();
}

/// Of what a block of `type` grows by: 64 bits reach whatever a pointer can.
static Type sumType(Type type, Value gain) {
  Type element = getElementTypeOrSelf(type);
  return isa<PtrType>(element) ? IntegerType::get(type.getContext(), 64) : gain.getType();
}

/// `block`, to each element of which `number` is added.
static Value moved(OpBuilder &b, Location loc, Value block, Value number) {
  auto type = cast<RankedTensorType>(block.getType());
  Value all = SplatOp::create(
      b, loc, RankedTensorType::get(type.getShape(), number.getType(), type.getEncoding()), number);
  if (isa<PtrType>(type.getElementType()))
    return AddPtrOp::create(b, loc, type, block, all);
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
      Type type = sumType(loop.getRegionIterArg(i).getType(), gain);
      zeros.push_back(arith::ConstantOp::create(b, loop.getLoc(), b.getZeroAttr(type)));
    }
  if (blocks.empty())
    return 0;
  auto sumsOf = [&](OpBuilder &yield, Location loc, ArrayRef<BlockArgument> sums) {
    SmallVector<Value> next;
    for (auto [sum, gain] : llvm::zip_equal(sums, gains)) {
      Value more = gain;
      if (more.getType() != sum.getType())
        more = arith::ExtSIOp::create(yield, loc, sum.getType(), more);
      next.push_back(arith::AddIOp::create(yield, loc, sum, more));
    }
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
