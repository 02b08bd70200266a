//===- Counters.cpp - counters that keep their distance from a loop's own -===//
//
// A loop over tiles that is to overlap the end of one with the next counts twice, once for what it
// loads and once for what it stores:
//
//     c = first - step                        for t in range(first, n, step):
//     for t in range(first, n, step):     =>      load(of(t)); store(of(t))
//         load(of(t)); c += step; store(of(c))
//
// Only as one number do both tell the same tile to whoever compares them.
//
//===----------------------------------------------------------------------===//
#include "passes/tile/Counters.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/StridedAccess.h"

using namespace mlir;
using namespace tile;

/// `arg` as what it is ahead of the loop's variable.
static Value aheadOfVariable(OpBuilder &b, scf::ForOp loop, BlockArgument arg,
                             const Polynomial &ahead) {
  Location loc = loop.getLoc();
  b.setInsertionPoint(loop);
  Value distance;
  if (std::optional<int64_t> n = ahead.asConstant())
    distance = arith::ConstantOp::create(b, loc, b.getIntegerAttr(arg.getType(), *n)).getResult();
  else
    distance =
        arith::SubIOp::create(b, loc, loop.getTiedLoopInit(arg)->get(), loop.getLowerBound());
  b.setInsertionPointToStart(loop.getBody());
  return arith::AddIOp::create(b, loc, loop.getInductionVar(), distance);
}

/// Puts the loop's variable in the place of `arg`, if that keeps its distance.
static bool join(scf::ForOp loop, BlockArgument arg, IRRewriter &b) {
  Value variable = loop.getInductionVar();
  if (arg.getType() != variable.getType() || !loop.getTiedLoopResult(arg).use_empty())
    return false;
  std::optional<SmallVector<Gain, 2>> gains = gainsOf(loop, arg);
  if (!gains || gains->empty())
    return false;
  StridedAnalysis analysis;
  Polynomial ahead =
      analysis.scalar(loop.getTiedLoopInit(arg)->get()) - analysis.scalar(loop.getLowerBound());
  Polynomial now = ahead;
  SmallVector<Operation *, 2> caughtUp; // sums on the way to the next turn that are the variable
  for (const Gain &gain : llvm::reverse(*gains)) {
    if (!loop.isDefinedOutsideOfLoop(gain.value))
      return false;
    Polynomial by = analysis.scalar(gain.value);
    now = isa<arith::SubIOp>(gain.op) ? now - by : now + by;
    if (now.isZero())
      caughtUp.push_back(gain.op);
  }
  if (!(now - ahead == analysis.scalar(loop.getStep())))
    return false;
  loop.getTiedLoopYieldedValue(arg)->set(arg); // canonicalised away
  for (Operation *sum : caughtUp)
    b.replaceAllUsesWith(sum->getResult(0), variable);
  Value same = ahead.isZero() ? variable : aheadOfVariable(b, loop, arg, ahead);
  b.replaceUsesWithIf(arg, same, [](OpOperand &use) { return !isa<scf::YieldOp>(use.getOwner()); });
  return true;
}

unsigned tile::joinCounters(func::FuncOp kernel) {
  IRRewriter b(kernel.getContext());
  unsigned count = 0;
  kernel.walk([&](scf::ForOp loop) {
    for (BlockArgument arg : loop.getRegionIterArgs())
      count += join(loop, arg, b);
  });
  if (count == 0)
    return 0;
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(b, dominance, kernel);
  return count;
}
