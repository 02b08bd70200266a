//===- ProductFacts.cpp - what can be done around warpgroup products ------===//
#include "passes/facts/ProductFacts.h"
#include "ir/Kernel.h"

using namespace mlir;
using namespace tile;

bool tile::isElementByElement(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         (op->hasTrait<OpTrait::Elementwise>() || isa<SplatOp, BroadcastOp, ExpandDimsOp>(op));
}

/// Cycles of the tensor core for one warpgroup's share of a product: 128 for
/// 64 x 256 x 32 bytes.
static int64_t cyclesOfShare(cta::WarpgroupDotOp dot, unsigned warpgroups) {
  auto acc = cast<RankedTensorType>(dot.getType());
  auto b = dot.getB().getType();
  int64_t bytes = dot.getDepth() * int64_t(getElementBytes(b.getElementType()));
  return acc.getNumElements() / warpgroups / 128 * (bytes / 32);
}

/// While one of several warpgroups waits for its product, another's is computed.
/// If that takes long enough, products in flight gain nothing, and slots that are
/// given back at once let the copies run further ahead.
static bool takeTurns(cta::WarpgroupDotOp dot, unsigned warpgroups) {
  return warpgroups > 1 && cyclesOfShare(dot, warpgroups) >= tuningOf(dot).longProductCycles;
}

bool tile::gainsFromFlight(ArrayRef<cta::WarpgroupDotOp> dots) {
  unsigned warpgroups = cta::warpsOfGroup(dots.front()) / 4;
  return dots.size() > 1 || !takeTurns(dots.front(), warpgroups);
}

bool tile::onlyAddsUp(cta::WarpgroupDotOp dot, scf::ForOp loop) {
  auto acc = dyn_cast<BlockArgument>(dot.getAcc());
  return acc && acc.getOwner() == loop.getBody() && acc != loop.getInductionVar() &&
         acc.hasOneUse() && dot.getResult().hasOneUse() &&
         loop.getTiedLoopYieldedValue(acc)->get() == dot.getResult() && !dot.getPromote();
}
