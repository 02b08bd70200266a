//===- PipelineRewrite.cpp - a loop whose copies are started ahead --------===//
//
// A part of tile-pipeline-loads: makes of a loop and its plan (Pipeline.h)
//
//  - slots for what is copied, in front of the loop;
//  - a prologue that starts the copies of the first iterations;
//  - in each iteration a wait for its own copies, the start of those of a later one, and
//    reads of slots in the place of loads.
//
// The loop carries which slot is read and which is filled, and what the addresses of copies
// ahead are computed from. Decides nothing: what is copied, how and how far ahead is the plan's.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/copies/CopiesAhead.h"
#include "passes/copies/CopyHints.h"
#include "passes/copies/Pipeline.h"
#include "passes/copies/ScalarsAhead.h"
#include "passes/copies/SpreadCopies.h"
#include "passes/facts/NonNegative.h"
#include "passes/facts/Polynomial.h"

using namespace mlir;
using namespace tile;

namespace {
class LoopRewriter {
public:
  explicit LoopRewriter(Pipeline &p) : p(p), loc(p.loop.getLoc()) {}
  void run();
  /// The same where each copy has one slot (RefilledSlots.cpp).
  void runRefilled();
  /// Loads of single numbers in each turn that the copies right behind a product wait for.
  ArrayRef<LoadOp> loadedIndices() const { return indices; }

private:
  using Filter = llvm::function_ref<bool(Operation *)>;
  /// Those of `ahead` that `filter` selects, for the iteration that `map` knows
  /// the values of; loads only where `when` is true.
  void cloneAhead(OpBuilder &b, IRMapping &map, Value when, Filter filter);
  void copy(OpBuilder &b, IRMapping &map, Copy &c, Value slot, Value when);
  bool isLate(Copy &c) const {
    auto depends = [&](Value v) { return v && p.late.contains(v.getDefiningOp()); };
    return depends(c.load.getPtr()) || depends(c.load.getMask());
  }
  Value prologue(OpBuilder &b, SmallVector<Value> &carried);
  void goOnWith(OpBuilder &in, IRMapping &map);
  void copyFirst(OpBuilder &in, ValueRange carried, Value turn, IRMapping &map);
  Value endLess(OpBuilder &b, Value elapsed, Value turns);
  Value elapsedAfter(OpBuilder &b, Value turns);
  /// Whether there are as many iterations as slots: what all of them read is copied in front.
  bool hasSlotsForAll() const {
    std::optional<APInt> turns = p.loop.getStaticTripCount();
    return turns && *turns == uint64_t(p.stages);
  }
  ValueRange carry(ValueRange inits);
  Value mapAhead(OpBuilder &top, IRMapping &map, Value elapsed, Value end, ValueRange carried);
  OpBuilder behindIndices();
  void computeAddresses(OpBuilder &top, OpBuilder &late, IRMapping &map, Value when);
  bool startCopies(OpBuilder &top, OpBuilder &late, IRMapping &map, Value filled, Value when);
  Operation *refillPlace(Copy &c, Operation *last);
  Value constant(OpBuilder &b, Type type, int64_t n) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, n));
  }
  Value compare(OpBuilder &b, arith::CmpIPredicate predicate, Value l, Value r) {
    return arith::CmpIOp::create(b, loc, predicate, l, r);
  }
  /// The mask (null: none) where `when` is true.
  Value restricted(OpBuilder &b, Value mask, Type like, Value when);
  /// Whether copies of the very next turn start behind a product.
  bool startsBehindProduct() const;

  Pipeline &p;
  Location loc;
  SmallVector<LoadOp> indices;
};
} // namespace

Value LoopRewriter::restricted(OpBuilder &b, Value mask, Type like, Value when) {
  auto block = dyn_cast<RankedTensorType>(like);
  Value all =
      block ? SplatOp::create(b, loc, cast<RankedTensorType>(withElementType(block, b.getI1Type())),
                              when)
                  .getResult()
            : when;
  return mask ? arith::AndIOp::create(b, loc, mask, all).getResult() : all;
}

void LoopRewriter::cloneAhead(OpBuilder &b, IRMapping &map, Value when, Filter filter) {
  for (Operation &op : *p.loop.getBody()) {
    if (!p.ahead.contains(&op) || !filter(&op))
      continue;
    Operation *clone = b.clone(op, map);
    if (auto load = dyn_cast<LoadOp>(clone)) {
      OpBuilder before(load);
      Value mask = restricted(before, load.getMask(), load.getType(), when);
      load.getMaskMutable().assign(mask);
    }
  }
}

void LoopRewriter::copy(OpBuilder &b, IRMapping &map, Copy &c, Value slot, Value when) {
  Location here = c.load.getLoc();
  auto behind = [&](Value v) {
    if (!v)
      return v;
    v = map.lookupOrDefault(v);
    for (TransOp trans : c.transpositions) {
      auto to = cast<RankedTensorType>(trans.getType());
      v = TransOp::create(b, here,
                          cast<RankedTensorType>(withElementType(to, getElementType(v.getType()))),
                          v, trans.getOrder());
    }
    return v;
  };
  Value buffer = cta::SlotOp::create(b, here, c.buffer, c.slots, slot);
  Value pointers = behind(c.load.getPtr()), mask = behind(c.load.getMask());
  if (auto layout = spreadLayout(cast<RankedTensorType>(pointers.getType()), c.vector)) {
    Value spread = computedIn(b, pointers, layout);
    Value where = spread && mask ? computedIn(b, mask, layout) : Value();
    if (spread && (where || !mask)) {
      pointers = spread;
      mask = where;
    }
  }
  auto copy = cta::AsyncCopyOp::create(b, here, pointers, mask, buffer, when, uint32_t(c.vector));
  if (mask && c.maskRun < c.vector)
    copy->setAttr(cta::kMaskRunAttr, b.getI32IntegerAttr(int32_t(c.maskRun)));
  if (c.load->hasAttr(kJoinedAttr))
    copy->setAttr(kJoinedAttr, b.getUnitAttr());
  keepHints(c.load, copy);
}

/// The end of the loop less `elapsed`, which is so many turns: one past the last iteration that
/// is so far from the end.
Value LoopRewriter::endLess(OpBuilder &b, Value elapsed, Value turns) {
  Value end = p.loop.getUpperBound();
  Type type = end.getType();
  if (type.isInteger(32) && mayPassTypeAhead(p.loop, p.stages)) {
    Type wide = b.getI64Type();
    auto widened = [&](Value v) { return arith::ExtSIOp::create(b, loc, wide, v); };
    Value far = arith::MulIOp::create(b, loc, widened(turns), widened(p.loop.getStep()));
    Value rest = arith::SubIOp::create(b, loc, widened(end), far);
    Value least = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(INT32_MIN));
    rest = arith::MaxSIOp::create(b, loc, rest, least);
    return arith::TruncIOp::create(b, loc, type, rest);
  }
  ArgumentSet arguments;
  NonNegative isNonNegative(/*checked=*/false, /*trusted=*/false, arguments);
  bool startsLow = !isNonNegative.holds(Polynomial::variable(p.loop.getLowerBound()));
  if (startsLow && !isa<IndexType>(type)) {
    // The end may be as near to the least number as the start is.
    Value least = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(type, APInt::getSignedMinValue(type.getIntOrFloatBitWidth())));
    end = arith::MaxSIOp::create(b, loc, end, arith::AddIOp::create(b, loc, least, elapsed));
  }
  return arith::SubIOp::create(b, loc, end, elapsed);
}

/// Starts the copies of iteration `turn` (i32) of the first ones, into the slot of that number;
/// `carried` is what it starts from. `map` gets what it computes.
void LoopRewriter::copyFirst(OpBuilder &in, ValueRange carried, Value turn, IRMapping &map) {
  scf::ForOp loop = p.loop;
  Value elapsed = elapsedAfter(in, turn);
  map.map(loop.getInductionVar(),
          arith::AddIOp::create(in, loc, loop.getLowerBound(), elapsed).getResult());
  // Written so that nothing overflows where lower bounds are small.
  Value rest = endLess(in, elapsed, turn);
  Value when = compare(in, arith::CmpIPredicate::slt, loop.getLowerBound(), rest);
  for (auto [start, index] : llvm::zip_equal(carried, p.carried))
    map.map(loop.getRegionIterArg(index), start);
  cloneAhead(in, map, when, [](Operation *) { return true; });
  for (Copy &c : p.copies)
    copy(in, map, c, turn, when);
}

/// So many iterations (i32), in the type of the loop's induction variable.
Value LoopRewriter::elapsedAfter(OpBuilder &b, Value turns) {
  Type type = p.loop.getInductionVar().getType();
  if (type != b.getI32Type())
    turns = isa<IndexType>(type) ? arith::IndexCastOp::create(b, loc, type, turns).getResult()
                                 : arith::ExtSIOp::create(b, loc, type, turns).getResult();
  return arith::MulIOp::create(b, loc, turns, p.loop.getStep());
}

/// Ends a turn of the loop in front: it goes on with what the iteration that `map` knows carries
/// on.
void LoopRewriter::goOnWith(OpBuilder &in, IRMapping &map) {
  SmallVector<Value> next;
  for (unsigned index : p.carried)
    next.push_back(map.lookupOrDefault(p.loop.getYieldedValues()[index]));
  if (!next.empty()) // else the builder has made the yield
    scf::YieldOp::create(in, loc, next);
}

/// Starts the copies of the first `stages - 1` iterations, or of all (hasSlotsForAll). Returns the
/// number of iterations' elements that copies of the loop are ahead; `carried` becomes what the
/// iteration that the first of these are for starts from.
Value LoopRewriter::prologue(OpBuilder &b, SmallVector<Value> &carried) {
  Type i32 = b.getI32Type();
  Value last = constant(b, i32, p.stages - 1);
  auto first = scf::ForOp::create(b, loc, constant(b, i32, 0), last, constant(b, i32, 1), carried);
  first->setAttr(cta::kPrologueAttr, b.getUnitAttr());
  OpBuilder in = OpBuilder::atBlockBegin(first.getBody());
  IRMapping map;
  copyFirst(in, first.getRegionIterArgs(), first.getInductionVar(), map);
  cta::AsyncCommitOp::create(in, loc);
  goOnWith(in, map);
  carried.assign(first.getResults().begin(), first.getResults().end());
  if (hasSlotsForAll()) {
    IRMapping behind;
    copyFirst(b, carried, last, behind);
    cta::AsyncCommitOp::create(b, loc);
  }
  return elapsedAfter(b, last);
}

/// Lets the loop carry values that start from `inits`; what it goes on with is still missing.
ValueRange LoopRewriter::carry(ValueRange inits) {
  unsigned old = p.loop.getNumRegionIterArgs();
  auto attributes = p.loop->getDiscardableAttrDictionary();
  IRRewriter rewriter(p.loop.getContext());
  rewriter.setInsertionPoint(p.loop);
  auto replaced = *p.loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
        return SmallVector<Value>(args.begin(), args.end()); // until they are known
      });
  p.loop = cast<scf::ForOp>(replaced.getOperation());
  p.loop->setDiscardableAttrs(attributes);
  if (p.hasSpare)
    p.loop->setAttr(cta::kSpareSlotAttr, rewriter.getUnitAttr());
  return p.loop.getRegionIterArgs().drop_front(old);
}

/// `map` gets what is known at the top of an iteration of the one that is `elapsed` ahead: its
/// index, and what the loop carries for it. Whether there is one.
Value LoopRewriter::mapAhead(OpBuilder &top, IRMapping &map, Value elapsed, Value end,
                             ValueRange carried) {
  Value index = p.loop.getInductionVar();
  Value when = compare(top, arith::CmpIPredicate::slt, index, end);
  map.map(index, arith::AddIOp::create(top, loc, index, elapsed).getResult());
  for (auto [arg, place] : llvm::zip(carried, p.carried))
    map.map(p.loop.getRegionIterArg(place), arg);
  return when;
}

/// What addresses of copies are computed from, at the top of an iteration, or where it depends on
/// loads at `late`.
void LoopRewriter::computeAddresses(OpBuilder &top, OpBuilder &late, IRMapping &map, Value when) {
  // Loads of indices too are under way while the products are computed.
  cloneAhead(top, map, when, [&](Operation *op) {
    return !p.late.contains(op) ||
           (isa<LoadOp>(op) && llvm::none_of(op->getOperands(), [&](Value v) {
              return p.late.contains(v.getDefiningOp());
            }));
  });
  cloneAhead(late, map, when, [&](Operation *op) { return !map.contains(op->getResult(0)); });
  if (startsBehindProduct()) {
    SmallVector<LoadOp> scalars = scalarsAhead(p.loop);
    for (LoadOp load : llvm::reverse(scalars)) // what others need comes behind them
      if (p.ahead.contains(load))
        indices.push_back(map.lookup(load.getResult()).getDefiningOp<LoadOp>());
  }
}

/// Starts the copies into the slot `filled` in each iteration: at its top, or where they depend
/// on loads at `late`. True if any of them does.
bool LoopRewriter::startCopies(OpBuilder &top, OpBuilder &late, IRMapping &map, Value filled,
                               Value when) {
  computeAddresses(top, late, map, when);
  bool anyLate = false;
  for (Copy &c : p.copies) {
    anyLate |= isLate(c);
    copy(isLate(c) ? late : top, map, c, filled, when);
  }
  return anyLate;
}

/// The first product in the body of `loop` itself, if any.
static Operation *firstProduct(scf::ForOp loop) {
  for (Operation &op : *loop.getBody())
    if (isa<DotOp, cta::WarpgroupDotOp>(op))
      return &op;
  return nullptr;
}

/// Where copies start whose addresses depend on loads of the same turn: at its end, when these have
/// arrived. Copies of the very next turn would come under nothing then: they start behind the first
/// product, under which the addresses arrive, and under what is left to compute. There they wait
/// for nothing where single numbers say where to copy from, which are loaded in the turn before.
OpBuilder LoopRewriter::behindIndices() {
  OpBuilder b(p.loop.getBody()->getTerminator());
  if (startsBehindProduct())
    b.setInsertionPointAfter(firstProduct(p.loop));
  return b;
}

bool LoopRewriter::startsBehindProduct() const { return p.stages == 2 && firstProduct(p.loop); }

void LoopRewriter::run() {
  OpBuilder b(p.loop);
  Type i32 = b.getI32Type();
  bool isForProducts = false;
  for (Copy &c : p.copies) {
    c.slots = cta::SlotsOp::create(b, c.load.getLoc(), c.buffer, uint32_t(p.slots()));
    isForProducts |= c.isReadInPlace();
  }
  SmallVector<Value> inits;
  for (unsigned index : p.carried)
    inits.push_back(p.loop.getInitArgs()[index]);
  Value elapsed = prologue(b, inits);
  Value end = endLess(
      b, elapsed, constant(b, i32, p.stages - 1)); // one past the last iteration that starts copies
  Value first = constant(b, i32, 0);
  bool hasOne = p.slots() == 1;
  if (!hasOne)
    inits.push_back(first); // that is read
  if (!p.isTight)
    inits.push_back(constant(b, i32, p.stages - 1)); // that is filled

  unsigned old = p.loop.getNumRegionIterArgs();
  ValueRange added = carry(inits);
  Value used = hasOne ? first : added[p.carried.size()];
  Value filled = p.isTight ? used : added[p.carried.size() + 1];

  // 1. At the top: wait, then fill the slot that the iteration before has read; or the one that
  // this one reads, behind that.
  OpBuilder top = OpBuilder::atBlockBegin(p.loop.getBody());
  // Groups that may be under way: those of later iterations. Each iteration commits one.
  int32_t later = hasSlotsForAll() ? p.stages - 1 : p.stages - 2;
  auto wait = cta::AsyncWaitOp::create(top, loc, uint32_t(later), isForProducts);
  IRMapping map;
  Value when = mapAhead(top, map, elapsed, end, added);
  Operation *yield = p.loop.getBody()->getTerminator();
  OpBuilder bottom(yield), late = behindIndices();
  bool anyLate = !hasSlotsForAll() && startCopies(top, late, map, filled, when);
  cta::AsyncCommitOp::create(anyLate ? late : top, loc);

  // 2. What is carried on.
  for (auto [i, index] : llvm::enumerate(p.carried))
    yield->setOperand(old + i, map.lookupOrDefault(p.loop.getYieldedValues()[index]));
  unsigned slots = old + p.carried.size();
  auto after = [&](Value slot) -> Value {
    Value next = arith::AddIOp::create(bottom, loc, slot, constant(bottom, i32, 1));
    Value wraps = compare(bottom, arith::CmpIPredicate::eq, next, constant(bottom, i32, p.slots()));
    return arith::SelectOp::create(bottom, loc, wraps, constant(bottom, i32, 0), next);
  };
  if (!hasOne)
    yield->setOperand(slots, after(used));
  if (!p.isTight)
    yield->setOperand(slots + 1, p.hasSpare ? after(filled) : used);

  // 3. What is used.
  SmallVector<cta::SlotOp> read;
  for (Copy &c : p.copies) {
    OpBuilder at(c.load);
    read.push_back(cta::SlotOp::create(at, c.load.getLoc(), c.buffer, c.slots, used));
    readFromSlot(p, c, read.back());
  }
  if (p.isTight)
    holdReads(p, read, wait);
}

/// In front of what the slot of `c` is filled again, `last` being what reads it last: of the next
/// product, under which addresses arrive that are loaded behind `last`, or of what comes next.
Operation *LoopRewriter::refillPlace(Copy &c, Operation *last) {
  Operation *next = last->getNextNode();
  // Single numbers are loaded in the turn before.
  bool waits = isLate(c) && llvm::any_of(p.late, [](Operation *op) {
                 return isa<LoadOp>(op) && isa<RankedTensorType>(op->getResult(0).getType());
               });
  if (waits)
    while (!next->hasTrait<OpTrait::IsTerminator>() && !isa<DotOp, cta::WarpgroupDotOp>(next))
      next = next->getNextNode();
  return next;
}

void LoopRewriter::runRefilled() {
  OpBuilder b(p.loop);
  Type i32 = b.getI32Type();
  Value first = constant(b, i32, 0), one = constant(b, i32, 1);
  Block *body = p.loop.getBody();
  // In the order in which slots are filled again, which is that of the groups under way.
  struct Refill {
    Copy *copy;
    size_t number;
    Operation *last, *place, *commit;
  };
  SmallVector<Refill> refills;
  for (Copy &c : p.copies) {
    c.slots = cta::SlotsOp::create(b, c.load.getLoc(), c.buffer, 1u);
    Operation *last = lastReader(c.value, body);
    refills.push_back({&c, refills.size(), last, refillPlace(c, last), nullptr});
  }
  llvm::sort(refills, [](const Refill &l, const Refill &r) {
    return l.place == r.place ? l.number < r.number : l.place->isBeforeInBlock(r.place);
  });

  // 1. The copies of the first iteration, a group each.
  SmallVector<Value> inits;
  for (unsigned index : p.carried)
    inits.push_back(p.loop.getInitArgs()[index]);
  auto front = scf::ForOp::create(b, loc, first, one, one, inits);
  front->setAttr(cta::kPrologueAttr, b.getUnitAttr());
  OpBuilder in = OpBuilder::atBlockBegin(front.getBody());
  Value any =
      compare(in, arith::CmpIPredicate::slt, p.loop.getLowerBound(), p.loop.getUpperBound());
  IRMapping starts;
  starts.map(p.loop.getInductionVar(), p.loop.getLowerBound());
  for (auto [start, index] : llvm::zip_equal(front.getRegionIterArgs(), p.carried))
    starts.map(p.loop.getRegionIterArg(index), start);
  cloneAhead(in, starts, any, [](Operation *) { return true; });
  for (Refill &r : refills) {
    copy(in, starts, *r.copy, first, any);
    cta::AsyncCommitOp::create(in, loc);
  }
  goOnWith(in, starts);
  inits.assign(front.getResults().begin(), front.getResults().end());
  Value elapsed = elapsedAfter(b, one), end = endLess(b, elapsed, one);
  unsigned old = p.loop.getNumRegionIterArgs();
  ValueRange added = carry(inits);
  p.loop->setAttr(cta::kRefilledAttr, b.getUnitAttr());
  body = p.loop.getBody();

  // 2. In each iteration those of the next one.
  OpBuilder top = OpBuilder::atBlockBegin(body), late(body->getTerminator());
  late.setInsertionPoint(llvm::min_element(refills, [](const Refill &l, const Refill &r) {
                           return l.last != r.last && l.last->isBeforeInBlock(r.last);
                         })->last->getNextNode());
  IRMapping map;
  Value when = mapAhead(top, map, elapsed, end, added);
  computeAddresses(top, late, map, when);
  Operation *place = nullptr;
  for (Refill &r : refills) {
    OpBuilder at(r.place);
    if (std::exchange(place, r.place) != r.place)
      cta::BarrierOp::create(at, loc);
    copy(at, map, *r.copy, first, when);
    r.commit = cta::AsyncCommitOp::create(at, loc);
  }
  Operation *yield = body->getTerminator();
  for (auto [i, index] : llvm::enumerate(p.carried))
    yield->setOperand(old + i, map.lookupOrDefault(p.loop.getYieldedValues()[index]));

  // 3. Each is waited for where it is read first: groups behind it, of the iteration before and of
  // this one, may be under way.
  for (auto [i, r] : llvm::enumerate(refills)) {
    OpBuilder at(r.copy->load);
    auto slot = cta::SlotOp::create(at, loc, r.copy->buffer, r.copy->slots, first);
    bool isForProducts = r.copy->isReadInPlace();
    readFromSlot(p, *r.copy, slot);
    readLate(slot);
    int64_t under = int64_t(refills.size() - 1 - i);
    under += llvm::count_if(
        refills, [&](const Refill &other) { return other.commit->isBeforeInBlock(slot); });
    at.setInsertionPoint(slot);
    cta::AsyncWaitOp::create(at, loc, uint32_t(under), isForProducts);
  }
}

SmallVector<LoadOp> tile::startAhead(Pipeline &p) {
  LoopRewriter rewriter(p);
  if (p.isRefilled)
    rewriter.runRefilled();
  else
    rewriter.run();
  return SmallVector<LoadOp>(rewriter.loadedIndices());
}
