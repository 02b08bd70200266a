//===- RepeatedRows.cpp - where rows live that larger blocks repeat --------===//
//
// A part of LayoutInference.
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

/// Loads of a thread, beyond which a row that is repeated over a larger block is exchanged.
/// In a loop each address of a gather takes two registers from turn to turn, and two additions.
unsigned LayoutInference::mostRepeatedLoads(Operation *load) const {
  const Tuning &tuning = tuningOf(load);
  if (coalescing.isContiguous(load) || !load->getParentOfType<LoopLikeOpInterface>())
    return tuning.repeatMostLoads;
  constexpr double kAdditions = 2;
  double cheap = tuning.exchangeCycles / (kAdditions * coalescing.numWarps());
  // All warps wait for each other twice where they exchange what a product's result is scaled with:
  // nothing runs under the product then.
  if (coalescing.hasEqualRuns(load) && isAmongProducts(load))
    return tuning.repeatMostRuns;
  return std::min(tuning.repeatMostLoads, unsigned(cheap));
}

/// Whether a load takes addresses that are computed from `value`.
static bool isIndexOfLoads(Value value, unsigned depth, unsigned &budget) {
  for (Operation *user : value.getUsers()) {
    if (budget == 0 || depth == 0)
      return false;
    --budget;
    auto load = dyn_cast<LoadOp>(user);
    if (load && load.getPtr() == value)
      return true;
    if ((isElementwise(user) || isa<ExpandDimsOp, BroadcastOp>(user)) &&
        isIndexOfLoads(user->getResult(0), depth - 1, budget))
      return true;
  }
  return false;
}

/// Whether products are computed in some loop around `op`.
static bool isAroundProducts(Operation *op) {
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>()) {
    auto isProduct = [](Operation *o) {
      return isa<DotOp, cta::WarpgroupDotOp>(o) ? WalkResult::interrupt() : WalkResult::advance();
    };
    if (loop->walk(isProduct).wasInterrupted())
      return true;
  }
  return false;
}

/// Whether a row is loaded once by all threads together, and exchanged, for less than it is loaded
/// by each thread that repeats it. Where products are about, warps that wait for each other cost
/// more than that. Outside of loops, what is loaded once, and begins a program, has to save a part
/// of the cycles.
bool LayoutInference::isExchangedForLess(LoadOp load, cta::LayoutAttr repeated) {
  if (isAroundProducts(load) && coalescing.numWarps() > 1)
    return false;
  // Behind a mask each access needs a truth, and a value to begin with.
  constexpr double kOfMask = 2;
  bool isOfRows = llvm::count_if(blockType(load.getResult()).getShape(),
                                 [](int64_t size) { return size > 1; }) > 1;
  auto costOf = [&](cta::LayoutAttr layout) {
    lowering::Cost cost = coalescing.cost(load, layout.getLayout());
    if (load.getMask())
      cost.instructions += kOfMask * coalescing.numAccesses(load, layout);
    if (isOfRows)
      cost.instructions += coalescing.instructionsOfRows(load, layout);
    return cost;
  };
  cta::LayoutAttr best = coalescing.anchor(load);
  // Places that are read from memory themselves, or computed of such, are where they are: each
  // thread that loads by others' gets those first.
  auto costOfPlaces = [&]() -> lowering::Cost {
    lowering::Cost cost;
    for (Value value : {Value(load.getPtr()), load.getMask()}) {
      Operation *def = value ? value.getDefiningOp() : nullptr;
      cta::LayoutAttr home = def ? natural(value) : cta::LayoutAttr();
      if (home && home != repeated && !isDeferred(def))
        cost += lowering::convertCost(home.getLayout(), repeated.getLayout(),
                                      getElementType(value.getType()), targetOf(load));
    }
    return cost;
  };
  lowering::Cost exchanged = costOf(best);
  exchanged += lowering::convertCost(best.getLayout(), repeated.getLayout(),
                                     getElementType(load.getType()), targetOf(load));
  // The assembler has each address computed as its index comes: indices that come one by one start
  // what is loaded by them one by one, behind an exchange all of these loads start together.
  unsigned budget = reach::kUsersSeen;
  if (isIndexOfLoads(load.getResult(), reach::kUsers, budget))
    exchanged.cycles -= std::min(exchanged.cycles, tuningOf(load).resultCycles *
                                                       coalescing.numAccesses(load, repeated));
  // Fewer warps leave some of the places idle that instructions start from.
  unsigned warps = std::max(coalescing.numWarps(), unsigned(lowering::kWarpsAtOnce));
  double worth = load->getParentOfType<LoopLikeOpInterface>() ? 1 : tuningOf(load).worthExchange;
  lowering::Cost apart = costOf(repeated);
  if (!coalescing.isContiguous(load))
    apart += costOfPlaces();
  return exchanged.total(warps) < worth * apart.total(warps);
}

/// Where `value`, or what becomes of its elements, is repeated to larger blocks: each layout once.
void LayoutInference::findWanted(Value value, unsigned depth, unsigned &budget,
                                 SmallVectorImpl<cta::LayoutAttr> &wanted) {
  for (Operation *user : value.getUsers()) {
    if (budget == 0 || depth == 0)
      return;
    if (isElementwise(user)) {
      --budget;
      findWanted(user->getResult(0), depth - 1, budget, wanted);
    } else if (cta::LayoutAttr layout = wantedBy(user, value, /*accesses=*/false, depth, budget);
               layout && !llvm::is_contained(wanted, layout)) {
      wanted.push_back(layout);
    }
  }
}

/// Of several layouts that a row is wanted in, outside of loops, the one in which loading it there
/// and moving it to the others takes least: where columns repeat it, a thread may have sixteen of
/// its numbers, and two where rows do.
cta::LayoutAttr LayoutInference::cheapestOf(ArrayRef<cta::LayoutAttr> wanted, LoadOp load) {
  if (wanted.size() < 2 || load->getParentOfType<LoopLikeOpInterface>())
    return wanted.front();
  Type element = getElementType(load.getType());
  auto cycles = [&](cta::LayoutAttr layout) {
    lowering::Cost cost = coalescing.cost(load, layout.getLayout());
    for (cta::LayoutAttr other : wanted)
      if (other != layout)
        cost +=
            lowering::convertCost(layout.getLayout(), other.getLayout(), element, targetOf(load));
    return cost.total(coalescing.numWarps());
  };
  return *llvm::min_element(
      wanted, [&](cta::LayoutAttr a, cta::LayoutAttr b) { return cycles(a) < cycles(b); });
}

/// A row that is repeated over a larger block is loaded where it is needed.
cta::LayoutAttr LayoutInference::layoutWhereRepeated(LoadOp load, unsigned &budget) {
  RankedTensorType type = blockType(load.getPtr());
  if (!type)
    return {};
  SmallVector<cta::LayoutAttr, 2> wanted;
  findWanted(load.getResult(), reach::kUsers, budget, wanted);
  cta::LayoutAttr layout = wanted.empty() ? cta::LayoutAttr() : cheapestOf(wanted, load);
  if (!layout && coalescing.isRepeated(load))
    layout = layoutOfProduct(type.getShape());
  if (!layout)
    return {};
  unsigned best = coalescing.numAccesses(load, coalescing.anchor(load));
  // Equal numbers are copied like others.
  if (willComeFromRing(load, coalescing))
    return coalescing.numCopies(load, layout) <= best ? layout : cta::LayoutAttr();
  bool isGood = coalescing.numAccesses(load, layout) <= std::max(mostRepeatedLoads(load), best) &&
                !isExchangedForLess(load, layout);
  return isGood ? layout : cta::LayoutAttr();
}
