//===- CtaRoles.cpp - what single threads and groups of warps may do ------===//
#include "ir/CtaDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

static bool waitsForThreads(Operation *op) {
  return isa<tile::BarrierOp, cta::BarrierOp, ClusterBarrierOp, AsyncWaitOp, RingWaitOp, RingFillOp,
             TurnBeginOp, WarpgroupDotOp, WarpgroupWaitOp>(op);
}

/// What one thread runs, and the others do not.
static LogicalResult verifyOneThread(Region &region) {
  WalkResult result = region.walk([](Operation *op) {
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>)) { // one_thread_c1
      op->emitOpError("works on a block where one thread runs alone");
      return WalkResult::interrupt();
    }
    if (waitsForThreads(op)) { // one_thread_c2
      op->emitOpError("waits for threads where one runs alone");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult RolesOp::verify() {
  if (!isa_and_nonnull<FunctionOpInterface>((*this)->getParentOp())) // roles_c1
    return emitOpError("expected to stand in the kernel's body");
  return success();
}

LogicalResult RolesOp::verifyRegions() { return verifyOneThread(getProducer()); }
LogicalResult SingleOp::verifyRegions() { return verifyOneThread(getBody()); }

static bool standsInConsumers(Operation *op) {
  auto roles = op->getParentOfType<RolesOp>();
  return roles && roles.getConsumers().isAncestor(op->getParentRegion());
}

LogicalResult GroupOp::verify() {
  if (!standsInConsumers(*this)) // group_c1
    return emitOpError("expected to stand in the consumers of `cta.roles`");
  return success();
}

/// The next turn operation of `order` in the same block, forwards or backwards.
static Operation *nextTurn(Operation *op, uint32_t order, bool forwards) {
  auto step = [&](Operation *at) { return forwards ? at->getNextNode() : at->getPrevNode(); };
  for (Operation *at = step(op); at; at = step(at)) {
    auto begin = dyn_cast<TurnBeginOp>(at);
    auto end = dyn_cast<TurnEndOp>(at);
    if ((begin && begin.getOrder() == order) || (end && end.getOrder() == order))
      return at;
  }
  return nullptr;
}

LogicalResult TurnBeginOp::verify() {
  if (!standsInConsumers(*this)) // turn_c1
    return emitOpError("expected to stand in the consumers of `cta.roles`");
  auto end = dyn_cast_if_present<TurnEndOp>(nextTurn(*this, getOrder(), /*forwards=*/true));
  if (!end || end.getRings() != getRings()) // turn_c2
    return emitOpError("expected a `cta.turn_end ")
           << getOrder() << "` of the same rings behind it";
  return success();
}

LogicalResult TurnEndOp::verify() {
  if (!standsInConsumers(*this)) // turn_c1
    return emitOpError("expected to stand in the consumers of `cta.roles`");
  if (!isa_and_nonnull<TurnBeginOp>(nextTurn(*this, getOrder(), /*forwards=*/false))) // turn_c2
    return emitOpError("expected a `cta.turn_begin ") << getOrder() << "` before it";
  return success();
}

LogicalResult ClusterBarrierOp::verify() {
  if ((*this)->getParentOfType<RolesOp>() ||
      (*this)->getParentOfType<SingleOp>()) // cluster_barrier_c1
    return emitOpError("expected to stand where all threads come by");
  return success();
}
