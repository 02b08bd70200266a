//===- JoinedStores.cpp - operands that are written one behind the other ---===//
#include "passes/memory/JoinedStores.h"
#include "ir/CtaDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

namespace {
/// Who reads what an operation writes for a product, behind its barrier.
enum class Readers { None, Products, Threads };
} // namespace

/// Of an operand that is written; products need a fence, too.
static Readers readersOf(Operation *op) {
  if (isa<cta::FillOp>(op))
    return Readers::Products;
  auto stage = dyn_cast<cta::StageOp>(op);
  if (!stage || stage->use_empty())
    return Readers::None;
  if (llvm::all_of(stage->getUsers(), llvm::IsaPred<cta::WarpgroupDotOp>))
    return Readers::Products;
  return llvm::all_of(stage->getUsers(), llvm::IsaPred<cta::ReadOp>) ? Readers::Threads
                                                                     : Readers::None;
}

/// Whether threads pass `op` without shared memory and without each other.
static bool isApart(Operation *op) {
  return op->getNumRegions() == 0 && !op->hasAttr(cta::kScratchOffsetAttr) &&
         !isa<DotOp, cta::WarpgroupDotOp, cta::ReadOp>(op) && isMemoryEffectFree(op);
}

Operation *tile::meetsLater(Operation *op) {
  Readers readers = readersOf(op);
  if (readers == Readers::None)
    return nullptr;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (readersOf(next) == readers)
      return next;
    if (!isApart(next))
      return nullptr;
  }
  return nullptr;
}
