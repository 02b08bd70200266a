//===- JoinedStores.cpp - operands that are written one behind the other ---===//
#include "passes/memory/JoinedStores.h"
#include "ir/CtaDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

/// Whether `op` writes an operand, a fence and a barrier behind it.
static bool writesOperand(Operation *op) {
  if (isa<cta::FillOp>(op))
    return true;
  auto stage = dyn_cast<cta::StageOp>(op);
  return stage && !stage->use_empty() &&
         llvm::all_of(stage->getUsers(), llvm::IsaPred<cta::WarpgroupDotOp>);
}

/// Whether threads pass `op` without shared memory and without each other.
static bool isApart(Operation *op) {
  return op->getNumRegions() == 0 && !op->hasAttr(cta::kScratchOffsetAttr) &&
         !isa<DotOp, cta::WarpgroupDotOp, cta::ReadOp>(op) && isMemoryEffectFree(op);
}

Operation *tile::meetsLater(Operation *op) {
  if (!writesOperand(op))
    return nullptr;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (writesOperand(next))
      return next;
    if (!isApart(next))
      return nullptr;
  }
  return nullptr;
}
