//===- OverlapDots.cpp - products in flight across iterations -------------===//
//
// Contract and example: OverlapDotsPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/copies/CopiesAhead.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Refusals.h"
#include "passes/schedule/ChainDots.h"
#include "passes/schedule/CopiesUnderDots.h"
#include "passes/schedule/EarlyDots.h"
#include "passes/schedule/OperandsAhead.h"
#include "passes/schedule/RotateDots.h"
#include "passes/schedule/StaggerDots.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_OVERLAPDOTSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-overlap-dots"
ALWAYS_ENABLED_STATISTIC(loopsInFlight, "loops that only add up");
ALWAYS_ENABLED_STATISTIC(loopsAhead,
                         "of them, loops that compute operands under the product before");
ALWAYS_ENABLED_STATISTIC(loopsRotated, "loops that use the result of their product under the next");
ALWAYS_ENABLED_STATISTIC(loopsStaggered, "the same with several products");
ALWAYS_ENABLED_STATISTIC(loopsChained, "loops whose last product runs in the next turn");
ALWAYS_ENABLED_STATISTIC(loopsEarly, "loops that issue products early");
ALWAYS_ENABLED_STATISTIC(loopsCopying, "loops that start copies under a product");

/// `next` starts copies into the slot that an iteration has released. Behind the release in the
/// iteration after that, they are those of the iteration before (`isLater`: if there is one).
static void startLater(scf::ForOp loop, cta::SingleOp next, Value isLater) {
  OpBuilder b = OpBuilder::atBlockBegin(&next.getBody().front());
  Location loc = next.getLoc();
  Value before = arith::SubIOp::create(b, loc, loop.getInductionVar(), loop.getStep());
  loop.getInductionVar().replaceUsesWithIf(before, [&](OpOperand &use) {
    return next->isProperAncestor(use.getOwner()) && use.getOwner() != before.getDefiningOp();
  });
  for (auto branch : next.getBody().front().getOps<scf::IfOp>()) {
    b.setInsertionPoint(branch);
    branch.getConditionMutable().assign(
        arith::AndIOp::create(b, loc, isLater, branch.getCondition()).getResult());
  }
}

static void keepInFlight(scf::ForOp loop, Flight &o) {
  OpBuilder b(loop.getContext());
  Location loc = o.dots.front().getLoc();
  auto compare = [&](arith::CmpIPredicate predicate, Value l, Value r) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, l, r);
  };
  for (cta::WarpgroupDotOp dot : o.dots)
    dot.setInFlight(true);
  SmallVector<Value, 2> rings;
  SmallVector<cta::SingleOp, 2> nexts;
  for (cta::RingReleaseOp release : o.releases) {
    rings.push_back(release.getRing());
    nexts.push_back(nextCopiesBehind(release));
    b.setInsertionPoint(release);
    cta::RingAdvanceOp::create(b, loc, release.getRing());
    release.erase();
  }
  // The first product is issued once those of the iteration before are done.
  b.setInsertionPointAfter(o.dots.front());
  Value isLater = compare(arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
  for (auto [ring, next] : llvm::zip_equal(rings, nexts)) {
    auto release = cta::RingReleaseOp::create(b, loc, ring, isLater);
    if (!next)
      continue;
    next->moveAfter(release);
    startLater(loop, next, isLater);
    b.setInsertionPointAfter(next);
  }

  // The other group's products need not wait for the last one of these.
  Operation *next = loop->getNextNode();
  b.setInsertionPointAfter(isa<cta::TurnEndOp>(next) ? next : loop.getOperation());
  for (cta::WarpgroupDotOp dot : o.dots) {
    Value sum = loop.getTiedLoopResult(cast<BlockArgument>(dot.getAcc()));
    auto done = cta::WarpgroupWaitOp::create(b, loc, sum.getType(), sum);
    sum.replaceAllUsesExcept(done.getResult(), done);
  }
  Value hasRun = compare(arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  for (Value ring : rings)
    cta::RingReleaseOp::create(b, loc, ring, hasRun);
}

/// A ring that several loops use is released in one way. Where some of them release slots later
/// than they step on, all do so by two operations.
static void releaseInOneWay(cta::RingOp ring) {
  SmallVector<cta::RingReleaseOp> plain;
  bool isStepped = false;
  for (Operation *user : ring->getUsers()) {
    auto release = dyn_cast<cta::RingReleaseOp>(user);
    if (release && !release.getCondition())
      plain.push_back(release);
    isStepped |= isa<cta::RingAdvanceOp>(user);
  }
  if (!isStepped)
    return;
  for (cta::RingReleaseOp release : plain) {
    OpBuilder b(release);
    cta::RingAdvanceOp::create(b, release.getLoc(), ring);
    release.getConditionMutable().assign(
        arith::ConstantOp::create(b, release.getLoc(), b.getBoolAttr(true)).getResult());
  }
}

/// Whether products cannot be in flight for want of slots, or because of what is done to results.
static bool hasNoSlotToSpare(std::optional<Reason> obstacle) {
  return obstacle == Reason::FlightNotInSlots || obstacle == Reason::FlightNoRoom ||
         obstacle == Reason::FlightResultsUsed;
}

namespace {
struct OverlapDotsPass : tile::impl::OverlapDotsPassBase<OverlapDotsPass> {
  using OverlapDotsPassBase::OverlapDotsPassBase;
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      overlap(loop);
    getOperation().walk(releaseInOneWay);
  }

private:
  /// The first of the forms that suits the loop.
  void overlap(scf::ForOp loop) {
    LDBG() << "the loop at " << loop.getLoc();
    bool hasRoles = bool(loop->getParentOfType<cta::RolesOp>());
    if (loop->hasAttr(cta::kRefilledAttr))
      return;
    if (chain && chainDots(loop)) {
      ++loopsChained;
    } else if (hasRoles && rotate && rotateDot(loop)) {
      ++loopsRotated;
    } else if (hasRoles && stagger && staggerDots(loop)) {
      ++loopsStaggered;
    } else {
      bool alternate = false;
      auto isSpare = [&](Value operand) {
        bool isWritten = canAlternate(operand, loop);
        alternate |= isWritten;
        return isWritten ||
               (loop->hasAttr(cta::kSpareSlotAttr) && operand.getDefiningOp<cta::SlotOp>());
      };
      Flight inFlight;
      std::optional<Reason> obstacle = obstacleToFlight(loop, isSpare, inFlight);
      if (!obstacle && alternate && !haveRoomToAlternate(loop))
        obstacle = Reason::FlightNoRoom;
      if (flight && !obstacle) {
        ++loopsInFlight;
        loopsAhead += alternate;
        keepInFlight(alternate ? alternateOperands(loop) : loop, inFlight);
      } else if (early && issueDotsEarly(loop)) {
        ++loopsEarly;
      } else if (copies && hasNoSlotToSpare(obstacle) && issueCopiesUnderDots(loop)) {
        ++loopsCopying;
      } else if (obstacle && *obstacle != Reason::FlightNothing) {
        LDBG() << refusalOf(*obstacle).why;
        refuse(loop, *obstacle);
      }
    }
  }
};
} // namespace
