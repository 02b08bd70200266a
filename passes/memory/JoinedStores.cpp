//===- JoinedStores.cpp - operands that are written one behind the other ---===//
#include "passes/memory/JoinedStores.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

tile::OperandReaders tile::readersOfWritten(Operation *op) {
  if (isa<cta::FillOp>(op))
    return OperandReaders::Products;
  auto stage = dyn_cast<cta::StageOp>(op);
  if (!stage || stage->use_empty())
    return OperandReaders::None;
  auto isProduct = llvm::IsaPred<cta::WarpgroupDotOp>;
  if (llvm::all_of(stage->getUsers(), isProduct))
    return OperandReaders::Products;
  if (llvm::all_of(stage->getUsers(), llvm::IsaPred<cta::ReadOp>))
    return OperandReaders::Threads;
  return llvm::any_of(stage->getUsers(), isProduct) ? OperandReaders::Both : OperandReaders::None;
}

/// Whether threads pass `op` without shared memory and without each other.
static bool isApart(Operation *op) {
  return op->getNumRegions() == 0 && !op->hasAttr(cta::kScratchOffsetAttr) &&
         !isa<DotOp, cta::WarpgroupDotOp, cta::ReadOp>(op) && isMemoryEffectFree(op);
}

Operation *tile::meetsLater(Operation *op) {
  OperandReaders readers = readersOfWritten(op);
  if (readers == OperandReaders::None || readers == OperandReaders::Both)
    return nullptr;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (readersOfWritten(next) == readers)
      return next;
    if (!isApart(next))
      return nullptr;
  }
  return nullptr;
}

bool tile::isFencedLater(cta::AsyncWaitOp wait) {
  for (Operation *op = wait->getNextNode(); op; op = op->getNextNode()) {
    OperandReaders readers = readersOfWritten(op);
    if (readers == OperandReaders::Products || readers == OperandReaders::Both)
      return true;
    if (isa<cta::WarpgroupDotOp>(op) || op->getNumRegions() > 0)
      return false;
  }
  return false;
}
