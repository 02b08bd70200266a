//===- CtaProtocol.cpp - how ring operations work together ----------------===//
//
// A slot goes round: acquired, copied to, committed by its producer; waited for,
// read, given back by its consumers. Each of the two is a straight run of operations
// of one block, so their order is checked block by block, without following control
// flow. Labels are those of the constraints of `cta.ring`.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

static bool isCopy(Operation *op) { return isa<RingCopyOp, RingBulkCopyOp, RingElementCopyOp>(op); }
static bool isProducing(Operation *op) {
  return isCopy(op) || isa<RingAcquireOp, RingCommitOp>(op);
}
static bool isConsuming(Operation *op) {
  return isa<RingWaitOp, RingReleaseOp, RingAdvanceOp, RingFillOp, TurnBeginOp, TurnEndOp>(op);
}

static Value bufferOf(Operation *copy) {
  if (auto op = dyn_cast<RingCopyOp>(copy))
    return op.getBuffer();
  if (auto op = dyn_cast<RingBulkCopyOp>(copy))
    return op.getBuffer();
  return cast<RingElementCopyOp>(copy).getBuffer();
}

/// On to the consumers' next slot.
static bool isStep(Operation *op) {
  auto release = dyn_cast<RingReleaseOp>(op);
  return isa<RingAdvanceOp>(op) || (release && !release.getCondition());
}

/// Whether one thread alone comes by.
static bool isOneThread(Operation *op) {
  if (op->getParentOfType<SingleOp>())
    return true;
  auto roles = op->getParentOfType<RolesOp>();
  return roles && roles.getProducer().isAncestor(op->getParentRegion());
}

namespace {
/// The users of one ring.
class RingUse {
public:
  explicit RingUse(RingOp ring) : ring(ring) {
    // In the order of the program: the first violation is the one reported.
    ring->getParentOfType<FunctionOpInterface>().walk([&](Operation *op) {
      if (llvm::is_contained(op->getOperands(), ring.getResult()))
        users.push_back(op);
    });
  }

  LogicalResult verify() {
    return success(succeeded(verifyUsers()) && succeeded(verifyProducers()) &&
                   succeeded(verifyConsumers()) && succeeded(verifyReleases()) &&
                   succeeded(verifyBothSides()));
  }

private:
  LogicalResult verifyUsers();
  LogicalResult verifyProducers();
  LogicalResult verifyFill(RingAcquireOp acquire);
  LogicalResult verifyCopies(RingAcquireOp acquire, ArrayRef<Operation *> copies);
  LogicalResult verifyAhead(RingAcquireOp acquire);
  LogicalResult verifyConsumers();
  LogicalResult verifyReads(RingWaitOp wait, RingReleaseOp release);
  LogicalResult verifyReleases();
  LogicalResult verifyGivenBack();
  LogicalResult verifyBothSides();

  RingOp ring;
  SmallVector<Operation *> users;
  /// Copies, commits and steps that belong to a slot.
  SmallPtrSet<Operation *, 8> inOrder;
};
} // namespace

LogicalResult RingUse::verifyUsers() {
  for (Operation *op : users) {
    if (!isProducing(op) && !isConsuming(op)) // ring_c1
      return op->emitOpError("uses a ring and is no operation on rings");
    if (isProducing(op) != isOneThread(op)) // ring_c7
      return op->emitOpError(isProducing(op) ? "fills a ring outside of `cta.single` and producers"
                                             : "reads a ring where one thread runs alone");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

LogicalResult RingUse::verifyProducers() {
  for (Operation *op : users)
    if (auto acquire = dyn_cast<RingAcquireOp>(op))
      if (failed(verifyFill(acquire)) || failed(verifyAhead(acquire)))
        return failure();
  for (Operation *op : users)
    if ((isCopy(op) || isa<RingCommitOp>(op)) && !inOrder.contains(op)) // ring_c2
      return op->emitOpError("follows no `cta.ring_acquire` of its slot");
  return success();
}

/// From the acquisition of a slot to its commitment.
LogicalResult RingUse::verifyFill(RingAcquireOp acquire) {
  SmallVector<Operation *> copies;
  for (Operation *op = acquire->getNextNode(); op; op = op->getNextNode()) {
    if (!llvm::is_contained(op->getOperands(), ring.getResult()))
      continue;
    if (isa<RingCommitOp>(op)) {
      inOrder.insert(op);
      return verifyCopies(acquire, copies);
    }
    if (!isCopy(op) || bufferOf(op).getDefiningOp() != acquire)
      break;
    inOrder.insert(op);
    copies.push_back(op);
  }
  // ring_c2
  return acquire.emitOpError("expected copies to its buffers and a `cta.ring_commit` behind it");
}

/// As many bytes must come as the slot's barrier waits for.
LogicalResult RingUse::verifyCopies(RingAcquireOp acquire, ArrayRef<Operation *> copies) {
  for (auto [index, buffer] : llvm::enumerate(acquire.getBuffers())) {
    llvm::SmallDenseSet<uint32_t> offsets;
    unsigned whole = 0, parts = 0;
    for (Operation *copy : copies) {
      if (bufferOf(copy) != buffer)
        continue;
      auto bulk = dyn_cast<RingBulkCopyOp>(copy);
      ++(bulk ? parts : whole);
      if (bulk && !offsets.insert(bulk.getOffset()).second) // ring_c3
        return copy->emitOpError("copies to where another one does");
    }
    if (whole + (parts ? 1 : 0) != 1) // ring_c3
      return acquire.emitOpError("expected buffer ")
             << index << " to be copied to once, or in parts, got " << whole << " whole copies and "
             << parts << " of parts";
  }
  return success();
}

/// A thread that also reads the ring cannot wait for itself.
LogicalResult RingUse::verifyAhead(RingAcquireOp acquire) {
  auto single = acquire->getParentOfType<SingleOp>();
  if (!single)
    return success();
  APInt slots(64, 1);
  for (auto loop = acquire->getParentOfType<scf::ForOp>(); loop && single->isAncestor(loop);
       loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<APInt> turns = loop.getStaticTripCount())
      slots *= turns->zextOrTrunc(64);
  if (slots.ugt(ring.getStages())) // ring_c9
    return acquire.emitOpError("takes ")
           << slots.getZExtValue() << " slots ahead of a ring of " << ring.getStages();
  return success();
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

LogicalResult RingUse::verifyConsumers() {
  for (Operation *op : users) {
    auto wait = dyn_cast<RingWaitOp>(op);
    if (!wait)
      continue;
    Operation *next = wait->getNextNode();
    while (next && !(llvm::is_contained(next->getOperands(), ring.getResult()) &&
                     (isStep(next) || isa<RingWaitOp>(next))))
      next = next->getNextNode();
    if (!next || !isStep(next)) // ring_c4
      return wait.emitOpError("expected a `cta.ring_release` or `cta.ring_advance` behind it");
    inOrder.insert(next);
    if (auto release = dyn_cast<RingReleaseOp>(next); release && failed(verifyReads(wait, release)))
      return failure();
  }
  for (Operation *op : users)
    if (isStep(op) && !inOrder.contains(op)) // ring_c4
      return op->emitOpError("follows no `cta.ring_wait` for its slot");
  return success();
}

/// Whether a wait for a sum in flight, or for what later products make of it, passes `isBefore`.
/// What a loop carries is waited for as its result.
static bool isWaitedFor(Value sum, llvm::function_ref<bool(Operation *)> isBefore) {
  return llvm::any_of(sum.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<WarpgroupWaitOp>(user))
      return isBefore(user);
    if (auto later = dyn_cast<WarpgroupDotOp>(user))
      return isWaitedFor(later.getResult(), isBefore);
    auto loop = isa<scf::YieldOp>(user) ? dyn_cast<scf::ForOp>(user->getParentOp()) : nullptr;
    return loop && isWaitedFor(loop.getResult(use.getOperandNumber()), isBefore);
  });
}

/// What `wait` gave is read, and products of it are done, before `release`.
LogicalResult RingUse::verifyReads(RingWaitOp wait, RingReleaseOp release) {
  Block *block = wait->getBlock();
  auto isBefore = [&](Operation *op) {
    Operation *here = block->findAncestorOpInBlock(*op);
    return here && here->isBeforeInBlock(release);
  };
  for (Operation *user : wait->getUsers()) {
    if (!isBefore(user)) // ring_c6
      return user->emitOpError("uses a slot behind its `cta.ring_release`");
    auto dot = dyn_cast<WarpgroupDotOp>(user);
    if (dot && dot.getInFlight() && !isWaitedFor(dot.getResult(), isBefore)) // ring_c6
      return dot.emitOpError("is in flight when its slot is released");
  }
  return success();
}

LogicalResult RingUse::verifyReleases() {
  RingReleaseOp conditional, plain;
  RingAdvanceOp advance;
  for (Operation *op : users) {
    if (auto release = dyn_cast<RingReleaseOp>(op))
      (release.getCondition() ? conditional : plain) = release;
    else if (isa<RingAdvanceOp>(op))
      advance = cast<RingAdvanceOp>(op);
  }
  if (plain && conditional) // ring_c5
    return plain.emitOpError("has no condition, others of the ring have");
  if (plain && advance) // ring_c5
    return advance.emitOpError("stands beside releases without a condition");
  if (bool(conditional) != bool(advance)) // ring_c5
    return (conditional ? conditional.getOperation() : advance.getOperation())
        ->emitOpError("expected releases with a condition beside `cta.ring_advance`");
  return verifyGivenBack();
}

/// A loop that goes on and gives nothing back waits, in the end, for a slot that nobody may fill.
LogicalResult RingUse::verifyGivenBack() {
  for (Operation *op : users) {
    auto loop =
        isa<RingAdvanceOp>(op) ? op->getParentOfType<LoopLikeOpInterface>() : LoopLikeOpInterface();
    if (loop && llvm::none_of(users, [&](Operation *other) {
          return isa<RingReleaseOp>(other) && loop->isAncestor(other);
        })) // ring_c10
      return op->emitOpError("goes on in a loop that releases no slot");
  }
  return success();
}

LogicalResult RingUse::verifyBothSides() {
  bool isFilled = llvm::any_of(users, llvm::IsaPred<RingAcquireOp>);
  bool isRead = llvm::any_of(users, llvm::IsaPred<RingWaitOp>);
  if (isFilled != isRead) // ring_c8
    return ring.emitOpError(isFilled ? "is filled and never read" : "is read and never filled");
  return success();
}

//===----------------------------------------------------------------------===//
// Copies of the threads themselves
//===----------------------------------------------------------------------===//

/// In the order of the text: groups are counted, not named.
static LogicalResult verifyCommits(Operation *root) {
  AsyncCopyOp open;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto copy = dyn_cast<AsyncCopyOp>(op))
      open = copy;
    else if (isa<AsyncCommitOp>(op))
      open = nullptr;
    return open && isa<AsyncWaitOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (open) // async_copy_c4
    return open.emitOpError("expected a `cta.async_commit` before the next `cta.async_wait`");
  return success();
}

LogicalResult cta::verifyProtocol(Operation *root) {
  bool holds = true;
  root->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<RingType>(operand.getType()) && !operand.getDefiningOp<RingOp>()) { // ring_c1
        op->emitOpError("expected a ring that `cta.ring` has made");
        holds = false;
      }
    if (auto ring = dyn_cast<RingOp>(op))
      holds &= succeeded(RingUse(ring).verify());
    else if (isa<FunctionOpInterface>(op))
      holds &= succeeded(verifyCommits(op));
  });
  return success(holds);
}
