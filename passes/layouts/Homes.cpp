//===- Homes.cpp - what decides where blocks live -------------------------===//
#include "passes/layouts/Homes.h"
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/facts/Reach.h"
#include "passes/layouts/DotLayouts.h"

using namespace mlir;
using namespace tile;

RankedTensorType tile::blockType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// Code that is not ours, on one element at a time: it may as well run elsewhere.
static bool isForeignElementwise(Operation *op) {
  if (auto text = dyn_cast<InlineAsmOp>(op))
    return text.getPure() && text.getPack() == 1;
  auto function = dyn_cast<ExternElementwiseOp>(op);
  return function && function.getPure();
}

bool tile::isElementwise(Operation *op) {
  return (op->hasTrait<OpTrait::Elementwise>() || isForeignElementwise(op)) &&
         op->getNumResults() == 1 && blockType(op->getResult(0));
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

bool tile::isBeforeProduct(Operation *op) {
  if (isAmongProducts(op))
    return false;
  SmallVector<Value> left(op->getResults());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!left.empty() && seen.size() < reach::kUsersSeen) {
    Value v = left.pop_back_val();
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      if (isa<DotOp, cta::WarpgroupDotOp>(user) && use.getOperandNumber() != kDotAcc)
        return true;
      bool goesOn = isElementwise(user) || isa<TransOp, cta::StageOp>(user);
      if (goesOn && seen.insert(user).second)
        llvm::append_range(left, user->getResults());
    }
  }
  return false;
}

bool tile::isStoredByTma(Value value) {
  SmallVector<Value> left{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!left.empty()) {
    Value v = left.pop_back_val();
    if (v.use_empty())
      return false;
    for (Operation *user : v.getUsers()) {
      if (isa<cta::TmaStoreOp>(user) || !seen.insert(user).second)
        continue;
      if (seen.size() > reach::kUsersSeen ||
          !(isElementwise(user) || isa<ReshapeOp, TransOp>(user)))
        return false;
      left.push_back(user->getResult(0));
    }
  }
  return true;
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
