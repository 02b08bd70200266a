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
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/ChainDots.h"
#include "ir/Kernel.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/copies/CopiesAhead.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Registers.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;

namespace {

class Chain {
public:
  explicit Chain(scf::ForOp loop) : loop(loop) {}
  bool match();
  void rewrite();

private:
  /// What a turn leaves for its last product, and for the next turn.
  struct Turn {
    Value left, sum;
    SmallVector<Value> carried; ///< in the order of the loop's variables, without the sum
  };

  bool findProducts();
  bool findSlot();
  bool dependsOnTurnAlone(cta::SingleOp refill);
  bool findScaling();
  bool isChained();
  bool fits();

  bool isLate(Operation *op) const;
  Turn run(OpBuilder &b, Value index, ValueRange carried, Value init, const Turn *before);
  Value multiply(OpBuilder &b, const Turn &turn, bool inFlight);
  Value endOfRest(OpBuilder &b, Value second);
  SmallVector<Value> withSum(ValueRange carried, Value sum) const;
  SmallVector<Value> withoutSum(ValueRange all) const;

  scf::ForOp loop;
  SmallVector<cta::WarpgroupDotOp> dots;
  cta::WarpgroupDotOp first, last; ///< of `dots`, the last two
  cta::RingWaitOp slot;            ///< of the right operand of `last`
  cta::RingReleaseOp release;      ///< of that slot
  cta::SingleOp refill;            ///< of it, by a thread that computes; may be null
  unsigned sumArg = 0;             ///< which of the loop's variables `last` adds to
  DenseSet<Operation *> scaling;   ///< what is done with the sum before it is added to
  arith::TruncFOp narrowing;       ///< gives the left operand; may be null
};

} // namespace

bool Chain::match() {
  return findProducts() && findSlot() && findScaling() && isChained() && fits();
}

/// Two products or more, all in the loop itself; the last adds to a variable of the loop.
bool Chain::findProducts() {
  dots = plainProducts(loop);
  if (dots.size() < 2)
    return false;
  last = dots.back();
  first = dots[dots.size() - 2];
  if (!isa<RankedTensorType>(last.getA().getType()) || !last.getResult().hasOneUse())
    return false;
  OpOperand &use = *last.getResult().use_begin();
  sumArg = use.getOperandNumber();
  return use.getOwner() == loop.getBody()->getTerminator();
}

/// The right operand has a ring of its own, so that its slots can be taken later than others.
bool Chain::findSlot() {
  slot = last.getB().getDefiningOp<cta::RingWaitOp>();
  if (!slot || slot->getBlock() != loop.getBody() ||
      !llvm::all_of(slot->getUsers(), [&](Operation *user) { return user == last; }))
    return false;
  for (Operation *user : slot.getRing().getUsers())
    if (auto found = dyn_cast<cta::RingReleaseOp>(user); found && loop->isAncestor(found)) {
      if (found.getCondition() || release || found->getBlock() != loop.getBody() ||
          !last->isBeforeInBlock(found))
        return false;
      release = found;
    }
  if (!release)
    return false;
  refill = nextCopiesBehind(release);
  return llvm::all_of(slot.getRing().getUsers(),
                      [&](Operation *user) {
                        return user == slot || user == release || !loop->isAncestor(user) ||
                               (refill && refill->isAncestor(user));
                      }) &&
         dependsOnTurnAlone(refill);
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

/// Element by element, under a condition or not.
static bool isScaling(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch)
    return isElementByElement(op);
  auto areElementByElement = [](Region &region) {
    return llvm::all_of(region.front().without_terminator(),
                        [](Operation &op) { return isElementByElement(&op); });
  };
  return op->getNumResults() == 1 && llvm::all_of(op->getRegions(), areElementByElement);
}

/// The sum is only scaled, element by element, before the last product is added to it.
bool Chain::findScaling() {
  BlockArgument sum = loop.getRegionIterArg(sumArg);
  SmallVector<Value> values{sum};
  while (!values.empty())
    for (OpOperand &use : values.pop_back_val().getUses()) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      if (user == last) {
        if (use.get() != last.getAcc() || use.getOperandNumber() != 2)
          return false;
        continue;
      }
      if (!user || !isScaling(user))
        return false;
      if (scaling.insert(user).second)
        values.push_back(user->getResult(0));
    }
  // With no way from the variable to the product the loop adds up nothing.
  return last.getAcc() == sum || scaling.contains(last.getAcc().getDefiningOp());
}

/// The left operand is made of the result of another product of the same turn.
bool Chain::isChained() {
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) { return loop->isProperAncestor(op); };
  SetVector<Operation *> slice;
  if (failed(getBackwardSlice(last.getA(), &slice, options)) || !slice.contains(first))
    return false;
  auto truncation = last.getA().getDefiningOp<arith::TruncFOp>();
  if (truncation && truncation->hasOneUse() && truncation->getBlock() == loop.getBody())
    narrowing = truncation;
  return true;
}

/// All that the loop carries, the left operand and the other results, with as much beside them as
/// the assembler wants for what is done with them; numbers of rows and parts of them are among that
/// where several programs are a thread block. Where they only share a multiprocessor, as many
/// as without.
bool Chain::fits() {
  int64_t registers = tuningOf(loop).registersBesideChain;
  bool isShared = cta::blockProgramsOf(loop).count > 1;
  int64_t least = isShared ? tuningOf(loop).deferredLeastRegisters + 1 : 0;
  for (Type type : loop.getResultTypes())
    if (int64_t carried = packedRegistersOf(type); carried >= least)
      registers += carried;
  for (cta::WarpgroupDotOp dot : ArrayRef(dots).drop_back())
    registers += packedRegistersOf(dot.getType());
  int64_t left = packedRegistersOf(last.getA().getType());
  int64_t chained = registers + (narrowing ? left : 2 * left);
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
  return chained <= most && programs(chained) == programs(registers);
}

bool Chain::isLate(Operation *op) const {
  return op == last || op == slot || op == release || op == refill || op == narrowing ||
         scaling.contains(op);
}

/// The last product of `turn`.
Value Chain::multiply(OpBuilder &b, const Turn &turn, bool inFlight) {
  IRMapping map;
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
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isLate(&op))
      continue;
    Operation *copy = b.clone(op, map);
    if (&op != first || !before)
      continue;
    cast<cta::WarpgroupDotOp>(copy).setInFlight(true);
    product = multiply(b, *before, /*inFlight=*/true);
    Value result = copy->getResult(0);
    map.map(first.getResult(),
            cta::WarpgroupWaitOp::create(b, op.getLoc(), result.getType(), result).getResult());
  }
  Value sum = init;
  if (before) {
    sum = cta::WarpgroupWaitOp::create(b, last.getLoc(), product.getType(), product);
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
    Value end = endOfRest(b, second);
    SmallVector<Value> inits = turn.carried;
    inits.append({turn.sum, turn.left});
    auto rest = scf::ForOp::create(
        b, loc, second, end, step, inits,
        [&](OpBuilder &b, Location, Value index, ValueRange args) {
          Turn before{args.back(), args.drop_back().back(), {}};
          Turn next = run(b, index, args.drop_back(2), Value(), &before);
          SmallVector<Value> values = next.carried;
          values.append({next.sum, next.left});
          scf::YieldOp::create(b, loc, values);
        },
        loop.getUnsignedCmp());
    rest->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    ValueRange results = rest.getResults();
    Turn last{results.back(), results.drop_back().back(), {}};
    Value sum = multiply(b, last, /*inFlight=*/false);
    b.clone(*release);
    scf::YieldOp::create(b, loc, withSum(results.drop_back(2), sum));
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
