//===- CopiesUnderDots.cpp - copies issued under a product ----------------===//
//
// A part of tile-overlap-dots, for loops whose slots the threads fill themselves and that have no
// spare slot for a product to stay in flight across turns. Addresses, masks and copies of a turn
// are a few hundred instructions, and the tensor cores would stand still under them.
//
//   for k:                                 for k:
//     wait for copies                        wait for copies
//     copies for a later turn        =>      c = dot, in flight
//     c = dot                                copies for a later turn
//     f(c)                                   c is done: f(c)
//
// The slot that is filled is another than the product reads. The result takes the registers of
// the sum that it adds to, which lives through the copies in either order; a product that starts
// from zero would need its own. Where copies stand behind a product already, as those do that
// a loaded number says the place of, nothing moves but the wait.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/CopiesUnderDots.h"
#include "ir/CtaDialect.h"
#include "passes/facts/ProductFacts.h"

using namespace mlir;
using namespace tile;

/// What the threads copy in front of `dot` and are not all waiting for in the next turn: the wait
/// that all of it is behind.
static cta::AsyncWaitOp waitBeforeCopies(cta::WarpgroupDotOp dot) {
  cta::AsyncWaitOp wait;
  unsigned commits = 0;
  bool hasCopies = false;
  for (Operation &op : *dot->getBlock()) {
    if (auto other = dyn_cast<cta::AsyncWaitOp>(op)) {
      if (wait)
        return {};
      wait = other;
    } else if (isa<cta::AsyncCopyOp>(op)) {
      if (!wait)
        return {};
      hasCopies |= op.isBeforeInBlock(dot);
    } else if (isa<cta::AsyncCommitOp>(op)) {
      ++commits;
    }
  }
  // Copies that the next turn waits for are late enough.
  return hasCopies && wait.getPending() >= commits ? wait : cta::AsyncWaitOp();
}

/// Whether `dot` may be issued in front of `place`; with these slots, which are computed later.
static bool canMove(cta::WarpgroupDotOp dot, Operation *place,
                    SmallVectorImpl<cta::SlotOp> &slots) {
  auto isBefore = [&](Value v) {
    Operation *from = v.getDefiningOp();
    return !from || from->getBlock() != dot->getBlock() || from->isBeforeInBlock(place);
  };
  for (Value operand : dot->getOperands()) {
    if (auto wait = operand.getDefiningOp<cta::RingWaitOp>();
        wait && wait->getBlock() == dot->getBlock())
      return false; // its slot is given back where the product was
    if (isBefore(operand))
      continue;
    auto slot = operand.getDefiningOp<cta::SlotOp>();
    if (!slot || !llvm::all_of(slot->getOperands(), isBefore))
      return false;
    if (!llvm::is_contained(slots, slot))
      slots.push_back(slot);
  }
  return true;
}

/// In the loop's own block.
static Operation *firstUseOf(cta::WarpgroupDotOp dot) {
  Block *body = dot->getBlock();
  Operation *first = body->getTerminator();
  for (Operation *user : dot.getResult().getUsers())
    if (Operation *here = body->findAncestorOpInBlock(*user); here->isBeforeInBlock(first))
      first = here;
  return first;
}

bool tile::issueBeforeCopies(cta::WarpgroupDotOp dot) {
  cta::AsyncWaitOp wait = waitBeforeCopies(dot);
  if (!wait || !wait->isBeforeInBlock(dot))
    return false;
  // The addresses and masks of the copies are computed under the product, too.
  Operation *place = wait->getNextNode();
  SmallVector<cta::SlotOp> slots;
  if (!canMove(dot, place, slots))
    return false;
  for (cta::SlotOp slot : slots)
    slot->moveBefore(place);
  dot->moveBefore(place);
  return true;
}

void tile::waitBehindCopies(cta::WarpgroupWaitOp wait) {
  auto isFree = [&](Operation *op) {
    return op && !llvm::is_contained(wait->getUsers(), op) &&
           (isa<cta::AsyncCopyOp, cta::AsyncCommitOp>(op) || isMemoryEffectFree(op));
  };
  Operation *last = wait;
  for (Operation *op = wait->getNextNode(); isFree(op); op = op->getNextNode())
    if (isa<cta::AsyncCommitOp>(op))
      last = op;
  if (last != wait)
    wait->moveAfter(last);
}

/// Whether `operand` stays in shared memory as long as the turn lasts.
static bool staysInTurn(Value operand, scf::ForOp loop) {
  return isa<cta::BufferType>(operand.getType()) &&
         (operand.getDefiningOp<cta::SlotOp>() || loop.isDefinedOutsideOfLoop(operand));
}

/// Whether copies stand between `dot` and the first `use` of its result, and nothing that another
/// product or others that copy wait for.
static bool isBeforeCopies(cta::WarpgroupDotOp dot, Operation *use, scf::ForOp loop) {
  bool hasCopies = false;
  for (Operation *op = dot->getNextNode(); op != use; op = op->getNextNode()) {
    if (isa<cta::WarpgroupDotOp, cta::RingReleaseOp>(op) || op->getNumRegions() != 0)
      return false;
    hasCopies |= isa<cta::AsyncCopyOp>(op);
  }
  return hasCopies && staysInTurn(dot.getA(), loop) && staysInTurn(dot.getB(), loop);
}

static void waitInFrontOf(Operation *place, cta::WarpgroupDotOp dot) {
  OpBuilder b(place);
  dot.setInFlight(true);
  auto done = cta::WarpgroupWaitOp::create(b, dot.getLoc(), dot.getType(), dot);
  dot.getResult().replaceAllUsesExcept(done.getResult(), done);
}

bool tile::issueCopiesUnderDots(scf::ForOp loop) {
  SmallVector<cta::WarpgroupDotOp> dots = plainProducts(loop);
  if (dots.empty() || loop->getParentOfType<cta::RolesOp>())
    return false;
  cta::WarpgroupDotOp dot = dots.front();
  if (Operation *use = firstUseOf(dot); isBeforeCopies(dot, use, loop)) {
    waitInFrontOf(use, dot);
    return true;
  }
  auto sum = dyn_cast<BlockArgument>(dot.getAcc());
  if (!sum || sum.getOwner() != loop.getBody() || !sum.hasOneUse())
    return false;
  Operation *next = dot->getNextNode();
  if (!issueBeforeCopies(dot))
    return false;
  waitInFrontOf(dots.size() == 1 ? firstUseOf(dot) : next, dot);
  return true;
}
