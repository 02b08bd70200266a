//===- EarlyDots.cpp - products issued early and waited for late ----------===//
//
// A part of tile-overlap-dots, for loops with several products in a turn that do not all depend on
// each other: the backward pass of attention, networks with gates. A product that needs nothing of
// those before it is issued right behind the first of them; each is waited for where its result is
// first used, a sum at the end of the turn; slots are given back behind the last wait of those that
// read them. Copies that the threads start for a later turn come behind the first two.
//
//   for k:                           for k:
//     wait; s = dot                    wait; s = dot, in flight
//     p = f(s)                         wait; d = dot, in flight
//     wait; d = dot           =>       s is done: p = f(s)           under d
//     u = dot(p, u)                    u = dot(p, u), in flight
//     e = g(p, d)                      d is done: e = g(p, d)        under u
//     w = dot(e, w)                    w = dot(e, w), in flight
//     release                          u and w are done: release
//
// Where there are no registers for two results at a time, d stays where it is, and sums alone are
// waited for later.
//
// Nothing is in flight behind a back edge, and the order of additions stays. Slots that the threads
// fill are filled anew in a later turn, and there is nothing to give back.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/EarlyDots.h"
#include "ir/Kernel.h"
#include "mlir/IR/Matchers.h"
#include "passes/copies/CopiesAhead.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Registers.h"
#include "passes/memory/Scratch.h"
#include "passes/schedule/CopiesUnderDots.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

namespace {

class EarlyDots {
public:
  explicit EarlyDots(scf::ForOp loop) : loop(loop), body(loop.getBody()) {}
  bool match();
  void rewrite();

private:
  bool findReleases();
  bool dependsOn(cta::WarpgroupDotOp dot, Operation *before);
  bool fits();
  Operation *firstUse(cta::WarpgroupDotOp dot);
  bool isThere(Value operand, Operation *place) const;
  void issueIndependent();

  scf::ForOp loop;
  Block *body;
  SmallVector<cta::WarpgroupDotOp> dots;
  SmallVector<std::pair<cta::RingReleaseOp, SmallVector<cta::WarpgroupDotOp>>> releases;
  SmallVector<cta::WarpgroupDotOp> independent; ///< of all before them, but the first
};

} // namespace

static bool isBehind(Value v, Operation *op) {
  Operation *from = v.getDefiningOp();
  return from && from->getBlock() == op->getBlock() && !from->isBeforeInBlock(op);
}

/// Whether `op`, or what stands in it, takes `ring`.
static bool hasToDoWith(Operation *op, Value ring) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::is_contained(inner->getOperands(), ring) ? WalkResult::interrupt()
                                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether `dot` can be issued where `before` has been: what it reads is there, or a slot that
/// nothing else has to do with between the two.
bool EarlyDots::dependsOn(cta::WarpgroupDotOp dot, Operation *before) {
  for (Value operand : dot->getOperands()) {
    Operation *from = operand.getDefiningOp();
    if (!from || from->getBlock() != body || from->isBeforeInBlock(before))
      continue;
    auto wait = dyn_cast<cta::RingWaitOp>(from);
    if (auto slot = dyn_cast<cta::SlotOp>(from)) {
      if (llvm::any_of(slot->getOperands(), [&](Value v) { return isBehind(v, before); }))
        return true;
      continue;
    }
    if (!wait)
      return true;
    for (Operation *op = before->getNextNode(); op != wait; op = op->getNextNode())
      if (hasToDoWith(op, wait.getRing()))
        return true; // with one slot, the copies of this very turn
  }
  return false;
}

/// Of the slots that products read, each given back once.
bool EarlyDots::findReleases() {
  llvm::MapVector<Operation *, SmallVector<cta::WarpgroupDotOp>> readers;
  for (cta::WarpgroupDotOp dot : dots)
    for (Value operand : {dot.getA(), Value(dot.getB())}) {
      Operation *from = operand.getDefiningOp();
      if (!isa<cta::BufferType>(operand.getType()) || (from && from->getBlock() != body))
        continue;
      if (isa_and_nonnull<cta::SlotOp>(from))
        continue;
      if (!isa_and_nonnull<cta::RingWaitOp>(from))
        return false; // what threads have written, they may write again
      readers[from].push_back(dot);
    }
  for (auto &[op, own] : readers) {
    Value ring = cast<cta::RingWaitOp>(op).getRing();
    cta::RingReleaseOp release;
    for (Operation *user : ring.getUsers()) {
      if (user == op || !loop->isAncestor(user))
        continue;
      if (user->getParentOfType<cta::SingleOp>())
        continue; // which fills it
      auto found = dyn_cast<cta::RingReleaseOp>(user);
      if (!found || found.getCondition() || release || found->getBlock() != body)
        return false;
      release = found;
    }
    if (!release || !own.back()->isBeforeInBlock(release))
      return false;
    releases.push_back({release, own});
  }
  return true;
}

bool EarlyDots::match() {
  dots = plainProducts(loop);
  if (dots.size() < 2 || !findReleases())
    return false;
  for (cta::WarpgroupDotOp dot : ArrayRef(dots).drop_front())
    if (!dependsOn(dot, dots.front()) && matchPattern(dot.getAcc(), m_AnyZeroFloat()))
      independent.push_back(dot);
  // Two results at a time, and no more: all of them would need their registers at once.
  if (independent.size() > 1)
    independent.resize(1);
  if (!independent.empty() && fits())
    return true;
  independent.clear(); // sums can still be waited for at the end of the turn
  return llvm::any_of(
             ArrayRef(dots).drop_back(),
             [&](cta::WarpgroupDotOp dot) { return firstUse(dot) == body->getTerminator(); }) &&
         fits();
}

/// All that the loop carries, all results that are no part of it, and the left operands in
/// registers: what is multiplied stays until it is waited for.
bool EarlyDots::fits() {
  // Single numbers are uniform.
  int64_t registers =
      tuningOf(loop).registersBesideEarlyProducts + packedRegistersOfAll(loop.getResultTypes());
  int64_t left = 0, result = 0;
  for (cta::WarpgroupDotOp dot : dots) {
    if (!isa<BlockArgument>(dot.getAcc())) {
      int64_t own = packedRegistersOf(dot.getType());
      result = independent.empty() ? std::max(result, own) : result + own;
    }
    if (isa<RankedTensorType>(dot.getA().getType()))
      left = std::max(left, packedRegistersOf(dot.getA().getType()));
  }
  registers += result;
  auto module = loop->getParentOfType<ModuleOp>();
  unsigned threads = cta::threadsOf(module);
  if (loop->getParentOfType<cta::RolesOp>()) {
    RoleRegisters dealt = registersOfRoles(targetOf(loop), threads);
    if (dealt.areDealt)
      return registers + left <= dealt.consumers;
    threads += cta::producerThreads(threads);
  }
  // No program less than there are. What the loop finds is held, too, and addresses of copies are.
  int64_t now = registersDuringProducts(loop->getParentOfType<func::FuncOp>());
  registers = std::max(registers + left, now + tuningOf(loop).registersBesideEarlyProducts);
  if (loop.walk([](cta::AsyncCopyOp) { return WalkResult::interrupt(); }).wasInterrupted())
    registers += tuningOf(loop).registersOfAddresses;
  int64_t shared = lowering::bytesOfCopies(module) + lowering::bytesBesidesSlots(module, {});
  return registers <= kMaxRegisters &&
         programsAtOnce(module, registers - kRegistersBesideAccumulator, shared, threads) >=
             programsAtOnce(module, now, shared, threads);
}

/// In the loop's own block.
Operation *EarlyDots::firstUse(cta::WarpgroupDotOp dot) {
  Operation *first = body->getTerminator();
  for (Operation *user : dot.getResult().getUsers())
    if (Operation *here = body->findAncestorOpInBlock(*user); here && here->isBeforeInBlock(first))
      first = here;
  return first;
}

/// Whether `operand` is made before `place`, or is a slot whose number is.
bool EarlyDots::isThere(Value operand, Operation *place) const {
  if (!isBehind(operand, place))
    return true;
  auto slot = operand.getDefiningOp<cta::SlotOp>();
  return slot && llvm::none_of(slot->getOperands(), [&](Value v) { return isBehind(v, place); });
}

/// Behind the first product. Where that has gone in front of copies without what these read, behind
/// the place where it was.
void EarlyDots::issueIndependent() {
  Operation *behind = dots.front()->getNextNode();
  bool moved = issueBeforeCopies(dots.front()); // if the threads make some
  for (cta::WarpgroupDotOp dot : independent) {
    Operation *place = dots.front();
    if (moved && !llvm::all_of(dot->getOperands(), [&](Value v) { return isThere(v, place); }))
      place = behind->getPrevNode();
    for (Value operand : dot->getOperands())
      if (Operation *from = operand.getDefiningOp();
          isa_and_nonnull<cta::RingWaitOp, cta::SlotOp>(from) && from->getBlock() == body &&
          place->isBeforeInBlock(from)) {
        from->moveAfter(place);
        place = from;
      }
    dot->moveAfter(place);
  }
}

void EarlyDots::rewrite() {
  OpBuilder b(loop);
  issueIndependent();
  DenseMap<Operation *, Operation *> waits;
  for (cta::WarpgroupDotOp dot : dots) {
    dot.setInFlight(true);
    b.setInsertionPoint(firstUse(dot));
    auto wait = cta::WarpgroupWaitOp::create(b, dot.getLoc(), dot.getType(), dot);
    dot.getResult().replaceAllUsesExcept(wait.getResult(), wait);
    waits[dot] = wait;
  }
  for (auto &[release, readers] : releases)
    for (cta::WarpgroupDotOp dot : readers)
      if (release->isBeforeInBlock(waits[dot])) {
        cta::SingleOp refill = nextCopiesBehind(release);
        release->moveAfter(waits[dot]);
        if (refill)
          refill->moveAfter(release);
      }
}

bool tile::issueDotsEarly(scf::ForOp loop) {
  EarlyDots early(loop);
  if (!early.match())
    return false;
  early.rewrite();
  return true;
}
