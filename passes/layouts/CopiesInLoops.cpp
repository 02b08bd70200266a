//===- CopiesInLoops.cpp - rows of which each turn would work on copies ----===//
//
// A part of LayoutInference. What was reduced in front of a loop is where the reduction left it: a
// row whose elements all lanes have, say. What a loop computes of it, turn by turn, each thread
// would compute for all of these copies.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/facts/Reach.h"
#include "passes/layouts/Homes.h"
#include "passes/layouts/LayoutInference.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

/// Operations on elements and reductions of `loop` that what becomes of `value` goes into.
static unsigned worksBehind(Value value, LoopLikeOpInterface loop, unsigned depth,
                            unsigned &budget) {
  unsigned works = 0;
  for (Operation *user : value.getUsers()) {
    if (budget == 0 || depth == 0)
      return works;
    --budget;
    if (!loop->isProperAncestor(user))
      continue;
    if (isElementwise(user))
      works += 1 + worksBehind(user->getResult(0), loop, depth - 1, budget);
    else if (isa<ReduceOp>(user))
      ++works;
  }
  return works;
}

/// The layout of the shape's accesses for an operation in a loop, if its operands come from in
/// front of it, and move there for less than copies cost in the loop's turns; null if not, or if
/// what becomes of it is repeated to larger blocks, as it lies.
cta::LayoutAttr LayoutInference::layoutWithoutCopies(Operation *op, cta::LayoutAttr home) {
  auto loop = op->getParentOfType<scf::ForOp>();
  Value result = op->getResult(0);
  if (!loop || isAmongProducts(op) || accumulators.contains(home))
    return {};
  cta::LayoutAttr once = coalescing.shapeLayout(blockType(result).getShape());
  if (registersOf(once) >= registersOf(home))
    return {};
  lowering::Cost moved;
  for (Value v : op->getOperands()) {
    cta::LayoutAttr own = blockType(v) ? natural(v) : cta::LayoutAttr();
    if (!own || own == once)
      continue;
    if (!loop.isDefinedOutsideOfLoop(v))
      return {}; // it would move in each turn
    moved += lowering::convertCost(own.getLayout(), once.getLayout(), getElementType(v.getType()),
                                   targetOf(op));
  }
  if (wantedByUsers(result, /*accesses=*/false))
    return {};
  const Tuning &tuning = tuningOf(op);
  std::optional<APInt> known = loop.getStaticTripCount();
  double turns = known ? double(known->getLimitedValue()) : tuning.unknownTurns;
  unsigned budget = reach::kUsersSeen, warps = coalescing.numWarps();
  unsigned works = 1 + worksBehind(result, loop, reach::kUsers, budget);
  double copies = turns * works * double(registersOf(home) - registersOf(once));
  double here = lowering::Cost{copies, 0, 0}.total(warps);
  return moved.total(warps) < tuning.worthExchange * here ? once : cta::LayoutAttr();
}
