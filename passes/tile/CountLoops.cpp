//===- CountLoops.cpp - how often loops turn, said in arithmetic ----------===//
//
// Contract and example: CountLoopsPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/NonNegative.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/StridedAccess.h"
#include "passes/tile/CarriedBlocks.h"
#include "passes/tile/Counters.h"
#include "passes/tile/KnownComparisons.h"
#include "passes/tile/KnownTurns.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_COUNTLOOPSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-count-loops"
ALWAYS_ENABLED_STATISTIC(whilesCounted, "`while` loops that became `for`");
ALWAYS_ENABLED_STATISTIC(whilesUnrolled, "`while` loops whose turns are known");
ALWAYS_ENABLED_STATISTIC(sumsCarried, "blocks that grow, of which a loop carries the growth");
ALWAYS_ENABLED_STATISTIC(valuesComputed, "values computed behind loops from their turns");

namespace {

bool isWideInteger(Type type) { return type.isInteger(32) || type.isInteger(64); }

Value constantOf(OpBuilder &b, Location loc, Type type, int64_t n) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, n));
}

std::optional<int64_t> asConstant(Value v) {
  APInt n;
  return matchPattern(v, m_ConstantInt(&n)) ? std::optional(n.getSExtValue()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// While loops that count
//===----------------------------------------------------------------------===//

/// while (arg + offset < limit), or > where `down`; arg changes by `step` > 0 a turn.
struct Counting {
  unsigned arg;
  int64_t offset, step;
  Value limit;
  bool down;
};

/// The argument of the loop's condition that `v` is, plus a constant.
BlockArgument countedIn(scf::WhileOp loop, Value v, int64_t &offset) {
  while (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(v.getDefiningOp())) {
    Operation *op = v.getDefiningOp();
    std::optional<int64_t> c = asConstant(op->getOperand(1));
    if (!c || !loop->isProperAncestor(op))
      return {};
    offset += isa<arith::AddIOp>(op) ? *c : -*c;
    v = op->getOperand(0);
  }
  auto arg = dyn_cast<BlockArgument>(v);
  return arg && arg.getOwner() == loop.getBeforeBody() ? arg : BlockArgument();
}

std::optional<Counting> countingOf(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  if (!llvm::equal(condition.getArgs(), loop.getBeforeArguments()))
    return std::nullopt;
  auto compare = condition.getCondition().getDefiningOp<arith::CmpIOp>();
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    if (!compare || !isPure(&op))
      return std::nullopt;
  using P = arith::CmpIPredicate;
  Counting c{};
  P predicate = compare ? compare.getPredicate() : P::eq;
  Value counted = compare ? compare.getLhs() : Value();
  c.limit = compare ? compare.getRhs() : Value();
  if (counted && loop.isDefinedOutsideOfLoop(counted)) {
    std::swap(counted, c.limit);
    predicate = predicate == P::slt   ? P::sgt
                : predicate == P::sle ? P::sge
                : predicate == P::sgt ? P::slt
                : predicate == P::sge ? P::sle
                                      : P::eq;
  }
  c.down = predicate == P::sgt || predicate == P::sge;
  if (!c.down && predicate != P::slt && predicate != P::sle)
    return std::nullopt;
  BlockArgument arg = countedIn(loop, counted, c.offset);
  if (!arg || !loop.isDefinedOutsideOfLoop(c.limit) || !isWideInteger(arg.getType()))
    return std::nullopt;
  c.arg = arg.getArgNumber();
  if (predicate == P::sle)
    c.offset -= 1; // i <= n is i - 1 < n
  if (predicate == P::sge)
    c.offset += 1;
  Operation *next = loop.getYieldOp().getOperand(c.arg).getDefiningOp();
  std::optional<int64_t> step = next && isa<arith::AddIOp, arith::SubIOp>(next)
                                    ? asConstant(next->getOperand(1))
                                    : std::nullopt;
  if (!step || next->getOperand(0) != loop.getAfterArguments()[c.arg])
    return std::nullopt;
  c.step = isa<arith::AddIOp>(next) == c.down ? -*step : *step;
  // What is small enough cannot make the new bounds overflow.
  constexpr int64_t kMost = 1 << 20;
  auto isSmall = [](int64_t n) { return -kMost < n && n < kMost; };
  std::optional<int64_t> least = asConstant(c.limit);
  if (c.step <= 0 || !isSmall(c.step) || !isSmall(c.offset) ||
      (c.down && (!least || !isSmall(*least) || *least - c.offset < 0)))
    return std::nullopt;
  return c;
}

/// a + b, but not beyond the ends of the type; `by` is small.
Value saturatingSum(OpBuilder &b, Location loc, Value a, int64_t by) {
  Type type = a.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  if (std::optional<int64_t> n = asConstant(a); n && std::abs(*n) < (1 << 20))
    return constantOf(b, loc, type, *n + by);
  if (by > 0)
    a = arith::MinSIOp::create(b, loc, a, constantOf(b, loc, type, llvm::maxIntN(width) - by));
  if (by < 0)
    a = arith::MaxSIOp::create(b, loc, a, constantOf(b, loc, type, llvm::minIntN(width) - by));
  return by == 0 ? a : arith::AddIOp::create(b, loc, a, constantOf(b, loc, type, by)).getResult();
}

/// Upwards the new loop's variable is the one that counts, downwards what it has lost.
void becomeFor(scf::WhileOp loop, const Counting &c) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value first = loop.getInits()[c.arg];
  Type type = first.getType();
  Value from = first, to;
  if (c.down) {
    Value least = constantOf(b, loc, type, *asConstant(c.limit) - c.offset);
    from = constantOf(b, loc, type, 0);
    to = arith::SubIOp::create(b, loc, arith::MaxSIOp::create(b, loc, first, least), least);
  } else {
    to = saturatingSum(b, loc, c.limit, -c.offset);
  }
  auto counted =
      scf::ForOp::create(b, loc, from, to, constantOf(b, loc, type, c.step), loop.getInits());
  counted->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = counted.getBody();
  if (!body->empty())
    body->back().erase();
  b.setInsertionPointToStart(body);
  SmallVector<Value> args(counted.getRegionIterArgs());
  args[c.arg] = c.down ? arith::SubIOp::create(b, loc, first, counted.getInductionVar()).getResult()
                       : counted.getInductionVar();
  body->getOperations().splice(body->end(), loop.getAfterBody()->getOperations());
  for (auto [old, now] : llvm::zip_equal(loop.getAfterArguments(), args))
    old.replaceAllUsesWith(now);
  loop.replaceAllUsesWith(counted.getResults());
  // Carried for what follows the loop only; that it grows by a constant can be seen.
  Operation *yield = body->getTerminator();
  b.setInsertionPoint(yield);
  Value step = counted.getStep(), carried = counted.getRegionIterArg(c.arg);
  yield->setOperand(c.arg, c.down ? arith::SubIOp::create(b, loc, carried, step).getResult()
                                  : arith::AddIOp::create(b, loc, carried, step).getResult());
  loop.erase();
}

//===----------------------------------------------------------------------===//
// What loops leave behind
//===----------------------------------------------------------------------===//

/// What each turn adds to what `result` was; nothing if that is not the same in all.
std::optional<SmallVector<Gain, 2>> constantGainsOf(scf::ForOp loop, OpResult result) {
  Type type = getElementTypeOrSelf(result.getType());
  if (!isa<PtrType>(type) && !isWideInteger(type))
    return std::nullopt;
  auto gains = gainsOf(loop, loop.getTiedLoopRegionIterArg(result));
  bool areConstant = gains && llvm::all_of(*gains, [&](const Gain &gain) {
                       return loop.isDefinedOutsideOfLoop(gain.value) &&
                              isWideInteger(getElementTypeOrSelf(gain.value.getType()));
                     });
  return areConstant ? gains : std::nullopt;
}

class Turns {
public:
  explicit Turns(func::FuncOp kernel) : kernel(kernel) {}

  void run() {
    // n - n % c first: it is a multiple of c, and the end of loops.
    SmallVector<arith::RemSIOp> rests;
    kernel.walk([&](arith::SubIOp sub) {
      auto rest = sub.getRhs().getDefiningOp<arith::RemSIOp>();
      if (rest && rest.getLhs() == sub.getLhs() && isWideInteger(rest.getType()))
        rests.push_back(rest);
    });
    OpBuilder b(kernel);
    for (arith::RemSIOp rest : rests)
      if (std::optional<int64_t> by = asConstant(rest.getRhs()); by && *by > 0)
        quotient(b, rest.getLoc(), rest.getLhs(), *by);
    SmallVector<scf::ForOp> loops; // inner ones first: outer ones may add up what they leave
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      rewrite(loop);
  }

private:
  void rewrite(scf::ForOp loop);
  Value count(OpBuilder &b, scf::ForOp loop, int64_t step);
  Value quotient(OpBuilder &b, Location loc, Value x, int64_t by);
  Value times(OpBuilder &b, Location loc, Value gain, Value turns, Type type);

  func::FuncOp kernel;
  /// x / c, computed once where x is.
  DenseMap<std::pair<Value, int64_t>, Value> quotients;
};

/// x / by as one value for the whole kernel, in which x % by is written, too.
Value Turns::quotient(OpBuilder &b, Location loc, Value x, int64_t by) {
  Value &q = quotients[{x, by}];
  if (q)
    return q;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(x);
  Type type = x.getType();
  Value divisor = constantOf(b, loc, type, by);
  q = arith::DivSIOp::create(b, loc, x, divisor);
  SmallVector<Operation *> users(x.getUsers());
  for (Operation *user : users) {
    if (user == q.getDefiningOp() || user->getOperand(0) != x || user->getNumOperands() != 2 ||
        asConstant(user->getOperand(1)) != by)
      continue;
    // Left without users, not erased: others may have them as keys.
    if (isa<arith::DivSIOp>(user)) {
      user->getResult(0).replaceAllUsesWith(q);
    } else if (isa<arith::RemSIOp>(user)) {
      b.setInsertionPoint(user);
      Value whole = arith::MulIOp::create(b, user->getLoc(), q, divisor);
      Value rest = arith::SubIOp::create(b, user->getLoc(), x, whole);
      user->getResult(0).replaceAllUsesWith(rest);
      for (Operation *next : rest.getUsers())
        if (isa<arith::SubIOp>(next) && next->getOperand(0) == x)
          next->getResult(0).replaceAllUsesWith(whole);
    }
  }
  return q;
}

/// max((to - from + step - 1) / step, 0): from -1 on, that division rounds towards
/// zero changes nothing.
Value Turns::count(OpBuilder &b, scf::ForOp loop, int64_t step) {
  Location loc = loop.getLoc();
  IRMapping same;
  StridedAnalysis analysis;
  Polynomial distance = analysis.scalar(loop.getUpperBound()) -
                        analysis.scalar(loop.getLowerBound()) + Polynomial::constant(step - 1);
  // As a single value, if it is one.
  auto value = [&](const Polynomial &p) -> Value {
    if (p.terms().size() == 1 && p.terms().front().coefficient == 1 &&
        p.terms().front().factors.size() == 1)
      return p.terms().front().factors.front();
    return emitPolynomial(b, loc, p, same);
  };
  int64_t rest = 0;
  for (const Polynomial::Term &t : distance.terms())
    if (t.factors.empty())
      rest = ((t.coefficient % step) + step) % step;
  Value turns;
  if (auto whole = (distance - Polynomial::constant(rest)).dividedBy(step))
    turns = value(*whole);
  else
    turns = quotient(b, loc, value(distance), step);
  if (std::optional<int64_t> n = asConstant(turns))
    return constantOf(b, loc, turns.getType(), std::max<int64_t>(*n, 0));
  return arith::MaxSIOp::create(b, loc, turns, constantOf(b, loc, turns.getType(), 0));
}

Value resized(OpBuilder &b, Location loc, Value v, unsigned width) {
  Type element = b.getIntegerType(width), type = element;
  if (auto block = dyn_cast<RankedTensorType>(v.getType()))
    type = block.clone(element);
  if (v.getType() == type)
    return v;
  return getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth() > width
             ? arith::TruncIOp::create(b, loc, type, v).getResult()
             : arith::ExtSIOp::create(b, loc, type, v).getResult();
}

/// gain * turns in integers of `width` bits.
Value Turns::times(OpBuilder &b, Location loc, Value gain, Value turns, Type like) {
  unsigned width = getElementTypeOrSelf(like).isInteger(32) ? 32 : 64;
  turns = resized(b, loc, turns, width);
  auto block = dyn_cast<RankedTensorType>(gain.getType());
  if (!block)
    return arith::MulIOp::create(b, loc, resized(b, loc, gain, width), turns);
  auto splatOf = [&](Value scalar) -> Value {
    return SplatOp::create(b, loc, block.clone(scalar.getType()), scalar);
  };
  if (auto splat = gain.getDefiningOp<SplatOp>())
    return splatOf(times(b, loc, splat.getSrc(), turns, like));
  if (std::optional<int64_t> n = asConstant(gain))
    return splatOf(arith::MulIOp::create(b, loc, turns, constantOf(b, loc, turns.getType(), *n)));
  return arith::MulIOp::create(b, loc, resized(b, loc, gain, width), splatOf(turns));
}

void Turns::rewrite(scf::ForOp loop) {
  std::optional<int64_t> step = asConstant(loop.getStep());
  if (!step || *step <= 0)
    return;
  ArgumentSet arguments;
  NonNegative isNonNegative(/*checked=*/false, /*trusted=*/false, arguments);
  if (!isNonNegative.holds(Polynomial::variable(loop.getLowerBound())))
    return; // its distance to the end may not fit the type
  OpBuilder b(loop->getContext());
  b.setInsertionPointAfter(loop);
  Value turns;
  for (OpResult result : loop.getResults()) {
    if (result.use_empty())
      continue;
    auto gains = constantGainsOf(loop, result);
    if (!gains)
      continue;
    if (!turns)
      turns = count(b, loop, *step);
    Location loc = loop.getLoc();
    Value v = loop.getTiedLoopInit(loop.getTiedLoopRegionIterArg(result))->get();
    for (auto [op, value] : llvm::reverse(*gains)) {
      Value gain = times(b, loc, value, turns, v.getType());
      if (isa<AddPtrOp>(op))
        v = AddPtrOp::create(b, loc, v.getType(), v, gain);
      else if (isa<arith::AddIOp>(op))
        v = arith::AddIOp::create(b, loc, v, gain);
      else
        v = arith::SubIOp::create(b, loc, v, gain);
    }
    ++valuesComputed;
    LDBG() << "from the number of turns: " << v;
    result.replaceAllUsesWith(v);
  }
}

/// Whether there is a product in `op`.
bool hasProduct(Operation *op) {
  return op->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

struct CountLoopsPass : tile::impl::CountLoopsPassBase<CountLoopsPass> {
  void runOnOperation() override {
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>()) {
      if (hasProduct(kernel))
        settleBranches(kernel);
      SmallVector<scf::WhileOp> loops;
      kernel.walk([&](scf::WhileOp loop) { loops.push_back(loop); });
      if (!hasProduct(kernel)) {
        for (scf::WhileOp loop : loops)
          whilesUnrolled += !countingOf(loop) && unrollKnownTurns(loop);
        settleComparisons(kernel);
        continue;
      }
      for (scf::WhileOp loop : loops)
        if (std::optional<Counting> c = countingOf(loop)) {
          LDBG() << "counts by " << (c->down ? -c->step : c->step) << " to " << c->limit;
          ++whilesCounted;
          becomeFor(loop, *c);
        } else if (hasProduct(loop)) {
          refuse(loop, Reason::WhileNotCounted);
        }
      Turns(kernel).run();
      sumsCarried += carrySums(kernel);
      if (unsigned joined = joinCounters(kernel))
        LDBG() << joined << " counters keep their distance from the loop's own";
    }
  }
};

} // namespace
