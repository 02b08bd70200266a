//===- SharedOperands.cpp - operands that products take from shared memory -===//
#include "passes/facts/SharedOperands.h"
#include "ir/Attributes.h"

using namespace mlir;
using namespace tile;

bool tile::isRenaming(Operation *op) {
  return isa<TransOp, ReshapeOp, ExpandDimsOp, BroadcastOp>(op);
}

bool tile::isOnlyOperand(Value value, llvm::function_ref<bool(DotOp)> takes) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isRenaming(user))
      return isOnlyOperand(user->getResult(0), takes);
    auto dot = dyn_cast<DotOp>(user);
    return dot && use.get() != dot.getAcc() && takes(dot);
  });
}

cta::ReadOp tile::readOfOperand(Value operand) {
  Operation *op = operand.getDefiningOp();
  while (op && isRenaming(op))
    op = op->getOperand(0).getDefiningOp();
  auto read = dyn_cast_if_present<cta::ReadOp>(op);
  return read && !read->hasAttr(cta::kHeldAttr) ? read : cta::ReadOp();
}
