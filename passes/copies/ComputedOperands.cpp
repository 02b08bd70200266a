//===- ComputedOperands.cpp - loads that no copy of an operand replaces ----===//
#include "passes/copies/ComputedOperands.h"
#include "ir/TileDialect.h"
#include "passes/facts/Reach.h"
#include "passes/facts/Refusals.h"

using namespace mlir;
using namespace tile;

namespace {
class Loads {
public:
  void refuse(Value v, Reason why, unsigned depth = 0);

private:
  DenseSet<Operation *> seen;
};
} // namespace

/// Vectors and numbers beside the operands are copied in another way, or not worth it.
static bool isBlock(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && llvm::count_if(type.getShape(), [](int64_t size) { return size > 1; }) > 1;
}

void Loads::refuse(Value v, Reason why, unsigned depth) {
  Operation *op = v.getDefiningOp();
  if (!op || !isBlock(v) || depth > reach::kScalars || !seen.insert(op).second)
    return;
  if (isa<LoadOp, DescriptorLoadOp>(op)) {
    tile::refuse(op, why);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(v).getResultNumber();
    for (Operation *end : {branch.thenYield().getOperation(), branch.elseYield().getOperation()})
      refuse(end->getOperand(number), Reason::TileInBranch, depth + 1);
  } else if (op->getNumRegions() == 0 && isMemoryEffectFree(op)) {
    for (Value operand : op->getOperands())
      refuse(operand, why, depth + 1);
  }
}

void tile::refuseLoadsOf(Value operand) { Loads().refuse(operand, Reason::TileComputed); }
