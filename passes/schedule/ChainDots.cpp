//===- ChainDots.cpp - a chained product under the next turn's arithmetic --===//
//
// A part of tile-overlap-dots, for loops in which one product's result, worked on, is the left
// operand of the last product, from registers: attention, linear attention, gated networks. The
// last product of a turn is issued in the next one, behind the product that begins it, so that
// the tensor cores compute it under the arithmetic between the two.
//
//   for k:                       if it runs: s = dot; p = f(s); sum *= g(s)
//     wait; s = dot; release       for k, from the second turn on:
//     p = f(s)                       wait; s = dot, in flight
//     sum *= g(s)          =>        wait; sum = dot(p, sum), in flight
//     wait; sum = dot(p, sum)        s is done: release; f(s), g(s)
//     release                        sum is done: release; p = f(s); sum *= g(s)
//                                  wait; sum = dot(p, sum); release
//
// Nothing is in flight behind a back edge, and the order of additions stays. Between the turns
// live the sum and the left operand; under the products their results, too. Where one of the
// threads that compute starts the copies of turns to come, it does so behind each release.
// Where all of them copy, nothing is given back: a slot more is left alone for a turn, the number
// of the last product's slot lives on instead, and the copies of a turn start under its products.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/ChainDots.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/copies/CopiesAhead.h"
#include "passes/facts/ChainedProducts.h"
#include "passes/facts/Registers.h"
#include "passes/memory/Scratch.h"
#include "passes/schedule/CopiesUnderDots.h"

using namespace mlir;
using namespace tile;

namespace {

class Chain : ChainedProducts {
public:
  explicit Chain(scf::ForOp loop) : loop(loop) {}
  bool match();
  void rewrite();

private:
  /// What a turn leaves for its last product, and for the next turn.
  struct Turn {
    Value left, sum;
    Value place;                ///< of the right operand, where threads fill slots
    SmallVector<Value> carried; ///< in the order of the loop's variables, without the sum
  };

  bool findSlot();
  bool isRoomAhead(cta::RingWaitOp late);
  bool findFilledSlot();
  bool dependsOnTurnAlone(cta::SingleOp refill);
  bool fits();

  bool isLate(Operation *op) const;
  Turn run(OpBuilder &b, Value index, ValueRange carried, Value init, const Turn *before);
  Value multiply(OpBuilder &b, const Turn &turn, bool inFlight);
  Value endOfRest(OpBuilder &b, Value second);
  SmallVector<Value> withSum(ValueRange carried, Value sum) const;
  SmallVector<Value> withoutSum(ValueRange all) const;
  SmallVector<Value> valuesOf(const Turn &turn) const;
  Turn turnOf(ValueRange values) const;

  scf::ForOp loop;
  Operation *slot = nullptr;  ///< of the right operand of `last`
  cta::SlotOp filled;         ///< the same where threads fill it; else null
  cta::RingReleaseOp release; ///< of that slot
  cta::SingleOp refill;       ///< of it, by a thread that computes; may be null
};

} // namespace

bool Chain::match() {
  std::optional<ChainedProducts> found = chainedProducts(loop);
  if (!found)
    return false;
  static_cast<ChainedProducts &>(*this) = std::move(*found);
  return (findSlot() || findFilledSlot()) && fits();
}

/// The right operand has a ring of its own, so that its slots can be taken later than others.
bool Chain::findSlot() {
  auto wait = last.getB().getDefiningOp<cta::RingWaitOp>();
  if (!wait || wait->getBlock() != loop.getBody() ||
      !llvm::all_of(wait->getUsers(), [&](Operation *user) { return user == last; }))
    return false;
  slot = wait;
  for (Operation *user : wait.getRing().getUsers())
    if (auto found = dyn_cast<cta::RingReleaseOp>(user); found && loop->isAncestor(found)) {
      if (found.getCondition() || release || found->getBlock() != loop.getBody() ||
          !last->isBeforeInBlock(found))
        return false;
      release = found;
    }
  if (!release)
    return false;
  refill = nextCopiesBehind(release);
  return isRoomAhead(wait) &&
         llvm::all_of(wait.getRing().getUsers(),
                      [&](Operation *user) {
                        return user == wait || user == release || !loop->isAncestor(user) ||
                               (refill && refill->isAncestor(user));
                      }) &&
         dependsOnTurnAlone(refill);
}

/// Whether what the next turn waits for comes while the slot is still taken. Of one slot alone that
/// is so if the warp that copies fills it again behind all others: in front of them, it would wait
/// for the slot, and the threads for it.
bool Chain::isRoomAhead(cta::RingWaitOp late) {
  auto ring = late.getRing().getDefiningOp<cta::RingOp>();
  if (refill || (ring && ring.getStages() > 1))
    return true;
  auto acquireOf = [](Value ring) {
    cta::RingAcquireOp found;
    for (Operation *user : ring.getUsers())
      if (auto acquire = dyn_cast<cta::RingAcquireOp>(user)) {
        if (found)
          return cta::RingAcquireOp();
        found = acquire;
      }
    return found;
  };
  cta::RingAcquireOp own = acquireOf(late.getRing());
  return own && llvm::all_of(loop.getBody()->getOps<cta::RingWaitOp>(), [&](cta::RingWaitOp wait) {
           cta::RingAcquireOp other = acquireOf(wait.getRing());
           return other == own ||
                  (other && other->getBlock() == own->getBlock() && other->isBeforeInBlock(own));
         });
}

/// Threads fill it, and not in the next turn.
bool Chain::findFilledSlot() {
  filled = last.getB().getDefiningOp<cta::SlotOp>();
  slot = filled;
  return filled && loop->hasAttr(cta::kSpareSlotAttr) && filled->getBlock() == loop.getBody() &&
         filled->hasOneUse() && loop.isDefinedOutsideOfLoop(filled.getSlots());
}

/// Whether what `refill` does follows from the number of the turn.
bool Chain::dependsOnTurnAlone(cta::SingleOp refill) {
  SetVector<Value> values;
  if (refill)
    getUsedValuesDefinedAbove(refill->getRegions(), values);
  return llvm::all_of(values, [&](Value v) {
    return v == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(v);
  });
}

/// No fewer programs run at once so than otherwise.
bool Chain::fits() {
  int64_t plain = registers(loop, /*chained=*/false), chained = registers(loop, /*chained=*/true);
  auto module = loop->getParentOfType<ModuleOp>();
  bool hasRoles = bool(loop->getParentOfType<cta::RolesOp>());
  unsigned threads = cta::threadsOf(module);
  RoleRegisters dealt = registersOfRoles(targetOf(loop), threads);
  if (hasRoles && dealt.areDealt)
    return chained <= dealt.consumers;
  const Multiprocessor &multiprocessor = targetOf(loop).multiprocessor;
  if (hasRoles)
    threads += cta::producerThreads(threads);
  int64_t most = mostRegistersOfThread(targetOf(loop), threads);
  int64_t shared = lowering::bytesOfCopies(module);
  auto programs = [&](int64_t count) {
    return occupancyOf(multiprocessor, int(threads), int(std::min(count, most)), shared).programs;
  };
  return chained <= most && programs(chained) == programs(plain);
}

bool Chain::isLate(Operation *op) const {
  return op == last || op == slot || op == release || op == refill || op == narrowing ||
         scaling.contains(op);
}

/// The last product of `turn`.
Value Chain::multiply(OpBuilder &b, const Turn &turn, bool inFlight) {
  IRMapping map;
  if (filled)
    map.map(filled.getIndex(), turn.place);
  b.clone(*slot, map);
  map.map(last.getA(), turn.left);
  map.map(last.getAcc(), turn.sum);
  auto product = cast<cta::WarpgroupDotOp>(b.clone(*last, map));
  product.setInFlight(inFlight);
  return product;
}

/// A turn without its last product; instead that of the turn `before`, or `init` if there is none.
Chain::Turn Chain::run(OpBuilder &b, Value index, ValueRange carried, Value init,
                       const Turn *before) {
  IRMapping map;
  map.map(loop.getInductionVar(), index);
  map.map(withoutSum(loop.getRegionIterArgs()), carried);
  Value product;
  cta::WarpgroupWaitOp done;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isLate(&op))
      continue;
    Operation *copy = b.clone(op, map);
    if (&op != first || !before)
      continue;
    cast<cta::WarpgroupDotOp>(copy).setInFlight(true);
    product = multiply(b, *before, /*inFlight=*/true);
    Value result = copy->getResult(0);
    done = cta::WarpgroupWaitOp::create(b, op.getLoc(), result.getType(), result);
    map.map(first.getResult(), done.getResult());
  }
  if (done && filled)
    waitBehindCopies(done);
  Value sum = init;
  if (before) {
    sum = cta::WarpgroupWaitOp::create(b, last.getLoc(), product.getType(), product);
    if (release)
      b.clone(*release);
    if (refill) {
      IRMapping earlier;
      earlier.map(loop.getInductionVar(),
                  arith::SubIOp::create(b, refill.getLoc(), index, loop.getStep()).getResult());
      b.clone(*refill, earlier);
    }
  }
  map.map(loop.getRegionIterArg(sumArg), sum);
  if (narrowing) {
    // Narrowed before the product is done, it would need registers beside its left operand.
    Value wide = map.lookupOrDefault(narrowing.getIn());
    if (before)
      wide = cta::PinOp::create(b, narrowing.getLoc(), wide.getType(), wide);
    Operation *narrow = b.clone(*narrowing, map);
    narrow->setOperand(0, wide);
  }
  for (Operation &op : loop.getBody()->without_terminator())
    if (scaling.contains(&op))
      b.clone(op, map);
  Turn turn;
  turn.left = map.lookupOrDefault(last.getA());
  // What is ready before the product is done moves into its left operand's registers behind it.
  if (!narrowing && before)
    turn.left = cta::PinOp::create(b, last.getLoc(), turn.left.getType(), turn.left);
  turn.sum = map.lookupOrDefault(last.getAcc());
  if (filled)
    turn.place = map.lookupOrDefault(filled.getIndex());
  for (Value v : withoutSum(loop.getBody()->getTerminator()->getOperands()))
    turn.carried.push_back(map.lookupOrDefault(v));
  return turn;
}

SmallVector<Value> Chain::withSum(ValueRange carried, Value sum) const {
  SmallVector<Value> all(carried);
  all.insert(all.begin() + sumArg, sum);
  return all;
}

SmallVector<Value> Chain::withoutSum(ValueRange all) const {
  SmallVector<Value> others(all);
  others.erase(others.begin() + sumArg);
  return others;
}

/// What goes from one turn to the next.
SmallVector<Value> Chain::valuesOf(const Turn &turn) const {
  SmallVector<Value> values = turn.carried;
  values.append({turn.sum, turn.left});
  if (filled)
    values.push_back(turn.place);
  return values;
}

Chain::Turn Chain::turnOf(ValueRange values) const {
  ValueRange own = filled ? values.drop_back() : values;
  Turn turn{own.back(), own.drop_back().back(), filled ? values.back() : Value(), {}};
  llvm::append_range(turn.carried, own.drop_back(2));
  return turn;
}

/// Where the turns from the `second` one on end.
Value Chain::endOfRest(OpBuilder &b, Value second) {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  if (std::optional<APInt> count = loop.getStaticTripCount())
    return count->ugt(1) ? upper : second;
  auto sum = upper.getDefiningOp<arith::AddIOp>();
  APInt length, step;
  if (sum && sum.getLhs() == lower && matchPattern(sum.getRhs(), m_ConstantInt(&length)) &&
      matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return length.ugt(step) ? upper : second; // it runs, so that the sum is in its type
  // There is another turn if there is more than a step to go: without a sign, that fits the type.
  Value way = arith::SubIOp::create(b, loc, upper, lower);
  Value goesOn = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, way, loop.getStep());
  return arith::SelectOp::create(b, loc, goesOn, upper, second);
}

void Chain::rewrite() {
  if (filled && first == dots.front())
    issueBeforeCopies(first);
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  std::optional<APInt> count = loop.getStaticTripCount();
  Value runs = count
                   ? arith::ConstantOp::create(b, loc, b.getBoolAttr(!count->isZero())).getResult()
                   : arith::CmpIOp::create(b, loc, predicate, lower, upper).getResult();
  auto turns = [&](OpBuilder &b, Location) {
    Value init = loop.getInitArgs()[sumArg];
    Turn turn = run(b, lower, withoutSum(loop.getInitArgs()), init, nullptr);
    Value second = arith::AddIOp::create(b, loc, lower, step);
    Value stop = endOfRest(b, second);
    auto rest = scf::ForOp::create(
        b, loc, second, stop, step, valuesOf(turn),
        [&](OpBuilder &b, Location, Value index, ValueRange args) {
          Turn before = turnOf(args);
          Turn next = run(b, index, before.carried, Value(), &before);
          scf::YieldOp::create(b, loc, valuesOf(next));
        },
        loop.getUnsignedCmp());
    rest->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    Turn end = turnOf(rest.getResults());
    Value sum = multiply(b, end, /*inFlight=*/false);
    if (release)
      b.clone(*release);
    scf::YieldOp::create(b, loc, withSum(end.carried, sum));
  };
  auto none = [&](OpBuilder &b, Location) { scf::YieldOp::create(b, loc, loop.getInitArgs()); };
  auto whole = scf::IfOp::create(b, loc, runs, turns, none);
  loop.replaceAllUsesWith(whole.getResults());
  loop.erase();
}

bool tile::chainDots(scf::ForOp loop) {
  Chain chain(loop);
  if (!chain.match())
    return false;
  chain.rewrite();
  return true;
}
