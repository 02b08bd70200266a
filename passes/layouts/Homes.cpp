//===- Homes.cpp - what decides where blocks live -------------------------===//
#include "passes/layouts/Homes.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/facts/Reach.h"

using namespace mlir;
using namespace tile;

RankedTensorType tile::blockType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

bool tile::isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         blockType(op->getResult(0));
}

bool tile::isAmongProducts(Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  auto isItsProduct = [&](Operation *o) {
    bool isIts = isa<DotOp, cta::WarpgroupDotOp>(o) &&
                 o->getParentOfType<LoopLikeOpInterface>() == loop; // in a branch, say
    return isIts ? WalkResult::interrupt() : WalkResult::advance();
  };
  return loop && loop->walk(isItsProduct).wasInterrupted();
}

/// Whether all that becomes of `value`, element by element, is stored by TMA, which takes it from
/// any layout.
static bool allStoredByTma(Value value, unsigned depth, unsigned &budget) {
  for (Operation *user : value.getUsers()) {
    if (budget == 0)
      return false;
    --budget;
    if (isa<cta::TmaStoreOp>(user))
      continue;
    if (depth == 0 || !isElementwise(user) ||
        !allStoredByTma(user->getResult(0), depth - 1, budget))
      return false;
  }
  return !value.use_empty();
}

bool tile::isStoredByTma(Value value) {
  unsigned budget = reach::kUsersSeen;
  return allStoredByTma(value, reach::kUsers, budget);
}

bool tile::isOnlyStored(Value value, unsigned depth) {
  return depth < reach::kChanges && !value.use_empty() &&
         llvm::all_of(
             value.getUses(),
             [&](OpOperand &use) {
               Operation *user = use.getOwner();
               if (isa<StoreOp, AtomicRmwOp>(user))
                 return use.getOperandNumber() > 0;
               if (isa<ExpandDimsOp>(user))
                 return isOnlyStored(user->getResult(0), depth);
               return user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1 &&
                      isOnlyStored(user->getResult(0), depth + 1);
             });
}

bool tile::isWidened(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, FpCastOp>(op) &&
         getElementBytes(getElementType(op->getOperand(0).getType())) <
             getElementBytes(getElementType(value.getType()));
}
