//===- HandChanges.cpp - what kernels that somebody wrote change ----------===//
#include "passes/graph/HandChanges.h"

using namespace mlir;
using namespace tile::graph;

/// The operand of the launch inside of a kernel that is changed to one of its results.
static OpOperand *operandOf(OpResult result) {
  auto kernel = dyn_cast<KernelOp>(result.getOwner());
  auto launch = kernel ? dyn_cast<LaunchOp>(kernel.getBody().front().front()) : nullptr;
  auto changes =
      launch ? launch->getAttrOfType<DenseI64ArrayAttr>(kChangesAttr) : DenseI64ArrayAttr();
  if (!changes)
    return nullptr;
  int64_t operand = changes[result.getResultNumber()];
  return operand < 0 ? nullptr : &launch->getOpOperand(operand);
}

BlockArgument tile::graph::changedInside(OpResult result) {
  OpOperand *operand = operandOf(result);
  return operand ? cast<BlockArgument>(operand->get()) : BlockArgument();
}

Value tile::graph::changedBy(Value value) {
  auto result = dyn_cast<OpResult>(value);
  BlockArgument inside = result ? changedInside(result) : BlockArgument();
  return inside ? cast<KernelOp>(result.getOwner()).getInputs()[inside.getArgNumber()] : Value();
}

void tile::graph::giveInstead(OpResult result, BlockArgument argument) {
  operandOf(result)->set(argument);
}
