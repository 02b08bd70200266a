//===- StaggerDots.cpp - each product's result used under the next --------===//
//
// A part of tile-overlap-dots, for loops with several products whose results are scaled,
// added up or otherwise used element by element. What is done with one result runs while
// the next product is computed, so that the tensor cores do not wait for the arithmetic;
// the order of additions stays.
//
//   for k:                     for k, four at a time:
//     wait                       wait; d0 = dot; d1 = dot; sum0 += d0 * s0
//     d0 = dot; sum0 += d0       wait; d0' = dot; sum1 += d1 * s1; release
//     d1 = dot; sum1 += d1  =>         d1' = dot; sum0 += d0' * s0'
//     release                    ...
//                              for k, the rest: the same, one at a time
//
// Between two rounds nothing is in flight, as in RotateDots.cpp.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/StaggerDots.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Rounds.h"
#include "passes/facts/EqualRuns.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

namespace {
/// The products of a block, and what is done with their results.
struct Stagger {
  SmallVector<cta::WarpgroupDotOp> dots;
  llvm::DenseMap<Operation *, unsigned> users; ///< with the last product that each needs
};
} // namespace

/// A product of slots alone: they can be kept while the next ones are waited for.
static bool readsSlots(cta::WarpgroupDotOp dot, Block *body) {
  return llvm::all_of(dot->getOperands().take_front(2), [&](Value operand) {
    auto wait = operand.getDefiningOp<cta::RingWaitOp>();
    auto ring = wait ? wait.getRing().getDefiningOp<cta::RingOp>() : cta::RingOp();
    return ring && wait->getBlock() == body && ring.getStages() > 1 &&
           llvm::all_of(wait->getUsers(), [](Operation *user) {
             return isa<cta::WarpgroupDotOp, cta::ReadOp>(user);
           });
  });
}

static std::optional<Stagger> match(Block *body) {
  Stagger s;
  for (auto dot : body->getOps<cta::WarpgroupDotOp>()) {
    if (dot.getInFlight() || dot.getPromote() || !startsAnew(dot.getAcc()) ||
        !readsSlots(dot, body))
      return std::nullopt;
    s.dots.push_back(dot);
  }
  if (s.dots.empty())
    return std::nullopt;
  for (auto [index, dot] : llvm::enumerate(s.dots)) {
    SmallVector<Value> results{dot.getResult()};
    while (!results.empty())
      for (Operation *user : results.pop_back_val().getUsers()) {
        if (user == body->getTerminator())
          continue;
        if (user->getBlock() != body || !isElementByElement(user))
          return std::nullopt;
        auto [entry, isNew] = s.users.try_emplace(user, index);
        if (!isNew && entry->second == index)
          continue;
        entry->second = index;
        results.push_back(user->getResult(0));
      }
  }
  for (auto release : body->getOps<cta::RingReleaseOp>())
    if (release.getCondition() || release->isBeforeInBlock(s.dots.front()))
      return std::nullopt;
  // Slots are given back right behind the last product.
  for (auto read : body->getOps<cta::ReadOp>())
    if (s.dots.back()->isBeforeInBlock(read))
      return std::nullopt;
  return s;
}

/// Unrolling puts a single turn into the surrounding block, where slots would still be given
/// back by the other of a ring's two counters.
static bool hasSingleTurns(scf::ForOp loop) {
  std::optional<APInt> turns = loop.getStaticTripCount();
  unsigned together = tuningOf(loop).turnsUnderProducts;
  return turns && (turns->ult(2 * together) || turns->urem(together) == 1);
}

/// Two results at a time, beside all that the loop carries and loads.
static bool fits(scf::ForOp loop, ArrayRef<cta::WarpgroupDotOp> dots) {
  int64_t result = 0, registers = 0;
  for (cta::WarpgroupDotOp dot : dots)
    result = std::max(result, registersOf(dot.getType()));
  for (auto load : loop.getOps<LoadOp>())
    registers += distinctRegistersOf(load.getResult());
  registers += registersOfTurn(loop) + 2 * result;
  const Tuning &tuning = tuningOf(loop);
  return registers >= tuning.staggerLeastRegisters &&
         registers <= tuning.mostRegistersUnderProducts;
}

static void rewrite(Block *body, Stagger &s) {
  SmallVector<Operation *> users; // in the order of the program
  SmallVector<cta::RingReleaseOp> releases;
  for (Operation &op : *body) {
    if (s.users.contains(&op))
      users.push_back(&op);
    if (auto release = dyn_cast<cta::RingReleaseOp>(op))
      releases.push_back(release);
  }
  OpBuilder b(body->getParentOp());
  for (auto [index, dot] : llvm::enumerate(s.dots)) {
    dot.setInFlight(true);
    bool isLastDot = index + 1 == s.dots.size();
    Operation *next = isLastDot ? dot : s.dots[index + 1];
    Operation *place = next;
    if (isLastDot) // behind what is done under it
      for (Operation *user : users)
        if (s.users.lookup(user) + 1 == index && place->isBeforeInBlock(user))
          place = user;
    b.setInsertionPointAfter(place);
    auto done = cta::WarpgroupWaitOp::create(b, dot.getLoc(), dot.getType(), dot);
    dot.getResult().replaceAllUsesExcept(done, done);
    // The slots whose last reader this product is.
    for (cta::RingReleaseOp release : releases) {
      bool readsIt =
          dot->isBeforeInBlock(release) && (isLastDot || !next->isBeforeInBlock(release));
      if (!readsIt)
        continue;
      Value always = arith::ConstantOp::create(b, release.getLoc(), b.getBoolAttr(true));
      cta::RingReleaseOp::create(b, release.getLoc(), release.getRing(), always);
    }
    Operation *last = &*std::prev(b.getInsertionPoint());
    for (Operation *user : users)
      if (s.users.lookup(user) == index && user->isBeforeInBlock(last)) {
        user->moveAfter(last);
        last = user;
      }
  }
  for (cta::RingReleaseOp release : releases) {
    b.setInsertionPoint(release);
    cta::RingAdvanceOp::create(b, release.getLoc(), release.getRing());
    release.erase();
  }
}

bool tile::staggerDots(scf::ForOp loop) {
  std::optional<Stagger> s = match(loop.getBody());
  if (!s || s->dots.size() < 2 || !fits(loop, s->dots) || hasSingleTurns(loop))
    return false;
  Block *parent = loop->getBlock();
  Operation *before = loop->getPrevNode(), *after = loop->getNextNode();
  (void)unrollIntoRounds(loop, tuningOf(loop).turnsUnderProducts);
  for (Operation *op = before ? before->getNextNode() : &parent->front(); op != after;
       op = op->getNextNode())
    if (auto made = dyn_cast<scf::ForOp>(op))
      if (std::optional<Stagger> own = match(made.getBody()))
        rewrite(made.getBody(), *own);
  return true;
}
