//===- ElementRegion.cpp - functions of single elements -------------------===//
#include "frontend/specialize/ElementRegion.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

ElementRegion::ElementRegion(Emitter &emitter, Kind kind)
    : emitter(emitter), kind(kind), outer(emitter.builder.getListener()) {
  emitter.builder.setListener(this);
}

ElementRegion::~ElementRegion() { emitter.builder.setListener(outer); }

std::string ElementRegion::objectionTo(Operation *op) const {
  StringRef function =
      kind == Kind::Combiner ? "a combining function" : "a function of `tl.map_elementwise`";
  auto isBlock = [](Type type) { return isa<RankedTensorType>(type); };
  if (llvm::any_of(op->getOperandTypes(), isBlock) || llvm::any_of(op->getResultTypes(), isBlock))
    return formatted("{} has single elements and cannot use blocks: compute this before, and pass "
                     "it as one of the blocks",
                     function);
  constexpr StringRef choice = "how often it runs, and in which threads, is the compiler's choice";
  if (isa<BarrierOp>(op))
    return formatted("{} cannot wait for other threads: {}", function, choice);
  if (isa<StoreOp, AtomicRmwOp, AtomicCasOp>(op))
    return formatted("{} cannot write to memory: {}; return the value, and store the result",
                     function, choice);
  if (kind == Kind::Combiner && isa<LoadOp>(op))
    return formatted("{} cannot read memory: load before, and combine what was loaded", function);
  return {};
}

void ElementRegion::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) {
  if (outer)
    outer->notifyOperationInserted(op, previous);
  std::string objection = objectionTo(op);
  if (objection.empty())
    objections.erase(op); // of an operation that is gone, whose place in memory this one has
  else
    objections[op] = emitter.diagnosticHere(std::move(objection));
}

bool ElementRegion::finish(Region &region) {
  SmallVector<Operation *> operations;
  region.walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : llvm::reverse(operations))
    if (isOpTriviallyDead(op))
      op->erase();
  const Diagnostic *first = nullptr;
  region.walk([&](Operation *op) {
    auto found = objections.find(op);
    if (found == objections.end())
      return WalkResult::advance();
    first = &found->second;
    return WalkResult::interrupt();
  });
  if (!first)
    return true;
  Diagnostic &error = emitter.diagnostics.error(first->file, first->range, first->message);
  error.notes = first->notes;
  return false;
}

} // namespace tile::specialize
