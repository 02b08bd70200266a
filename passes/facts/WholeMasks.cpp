//===- WholeMasks.cpp - when all elements of a mask are alike --------------===//
#include "passes/facts/WholeMasks.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Intervals.h"

using namespace mlir;
using namespace tile;

using Predicate = arith::CmpIPredicate;

namespace {

/// What is computed with ends has no more bits than this: sums of a few of them fit 64.
constexpr int64_t kFar = int64_t(1) << 58, kFarthest = int64_t(1) << 61;
/// Factors and divisors of positions.
constexpr int64_t kMostFactor = 1 << 20;
/// Operations that are looked at.
constexpr unsigned kMostLookedAt = 64;

/// low <= each element <= high, in 64 bits; `bounds`: what is known of both without running.
struct Ends {
  Value low, high;
  Interval bounds;
};

/// Writes what it says of masks where there is a builder; without one it only finds out whether it
/// could.
class Answer {
public:
  Answer(OpBuilder *b, Location loc) : b(b), loc(loc) {}
  /// Nothing where nothing can be said; null without a builder.
  std::optional<Value> of(Value mask, bool wanted);

private:
  std::optional<Value> ofComparison(arith::CmpIOp compare, bool wanted);
  std::optional<Ends> endsOf(Value v);
  std::optional<Ends> endsOfResult(Operation *op, unsigned bits);
  std::optional<Ends> product(const Ends &a, Value factor, unsigned bits);
  std::optional<Ends> magnitude(const Ends &a, unsigned bits);
  Ends ofNumber(Value v);
  std::optional<Ends> within(Ends e, unsigned bits);

  Value constant(int64_t n);
  Value compare(Predicate p, Value l, Value r);
  Value both(Value l, Value r);
  template <typename Op> Value make(Value l, Value r) {
    return b ? b->createOrFold<Op>(loc, l, r) : Value();
  }

  OpBuilder *b;
  Location loc;
  Intervals intervals;
  /// Null, or a truth without which nothing holds of the ends found so far.
  Value holds;
  unsigned lookedAt = 0;
};

} // namespace

Value Answer::constant(int64_t n) {
  return b ? arith::ConstantOp::create(*b, loc, b->getI64IntegerAttr(n)).getResult() : Value();
}

Value Answer::compare(Predicate p, Value l, Value r) {
  return b ? b->createOrFold<arith::CmpIOp>(loc, p, l, r) : Value();
}

Value Answer::both(Value l, Value r) { return !l ? r : !r ? l : make<arith::AndIOp>(l, r); }

/// Where a step may have left its type, it is asked for.
std::optional<Ends> Answer::within(Ends e, unsigned bits) {
  if (e.bounds.low < -kFarthest || e.bounds.high > kFarthest)
    return std::nullopt;
  if (bits >= 64)
    return e;
  int64_t limit = llvm::maxIntN(bits);
  if (e.bounds.high > limit) {
    holds = both(holds, compare(Predicate::sle, e.high, constant(limit)));
    e.bounds.high = limit;
  }
  if (e.bounds.low < -limit - 1) {
    holds = both(holds, compare(Predicate::sge, e.low, constant(-limit - 1)));
    e.bounds.low = -limit - 1;
  }
  return e;
}

/// A single number, whatever it was computed from, is what it is.
Ends Answer::ofNumber(Value v) {
  Interval bounds = intervals.of(v);
  Value wide = v;
  if (b && !v.getType().isInteger(64))
    wide = v.getType().isIndex() ? b->createOrFold<arith::IndexCastOp>(loc, b->getI64Type(), v)
                                 : b->createOrFold<arith::ExtSIOp>(loc, b->getI64Type(), v);
  if (bounds.low < -kFar || bounds.high > kFar) {
    Value moved = make<arith::AddIOp>(wide, constant(kFar));
    holds = both(holds, compare(Predicate::ule, moved, constant(2 * kFar)));
    bounds = {-kFar, kFar};
  }
  return {wide, wide, bounds};
}

std::optional<Ends> Answer::product(const Ends &a, Value factor, unsigned bits) {
  APInt n;
  if (!matchPattern(strip(factor), m_ConstantInt(&n)) || n.getSignificantBits() > 32)
    return std::nullopt;
  int64_t by = n.getSExtValue();
  if (std::abs(by) > kMostFactor || a.bounds.low < -kFar / kMostFactor ||
      a.bounds.high > kFar / kMostFactor)
    return std::nullopt;
  Value low = make<arith::MulIOp>(a.low, constant(by)),
        high = make<arith::MulIOp>(a.high, constant(by));
  Interval bounds{a.bounds.low * by, a.bounds.high * by};
  if (by < 0) {
    std::swap(low, high);
    std::swap(bounds.low, bounds.high);
  }
  return within({low, high, bounds}, bits);
}

std::optional<Ends> Answer::magnitude(const Ends &a, unsigned bits) {
  Value zero = constant(0);
  Value lowest = make<arith::SubIOp>(zero, a.low), highest = make<arith::SubIOp>(zero, a.high);
  Value low = make<arith::MaxSIOp>(make<arith::MaxSIOp>(a.low, highest), zero);
  Value high = make<arith::MaxSIOp>(a.high, lowest);
  return within({low, high, {0, std::max(std::abs(a.bounds.low), std::abs(a.bounds.high))}}, bits);
}

std::optional<Ends> Answer::endsOf(Value v) {
  unsigned bits = bitsOf(v);
  if (bits < 8 || bits > 64 || ++lookedAt > kMostLookedAt)
    return std::nullopt;
  APInt n;
  if (matchPattern(v, m_ConstantInt(&n))) {
    int64_t number = n.getSExtValue();
    if (std::abs(number) > kFar)
      return std::nullopt;
    return Ends{constant(number), constant(number), {number, number}};
  }
  if (!isa<RankedTensorType>(v.getType()))
    return ofNumber(v);
  Operation *op = v.getDefiningOp();
  return op ? endsOfResult(op, bits) : std::nullopt;
}

std::optional<Ends> Answer::endsOfResult(Operation *op, unsigned bits) {
  if (auto range = dyn_cast<MakeRangeOp>(op)) {
    Interval all = intervals.of(range.getResult());
    return Ends{constant(all.low), constant(all.high), all};
  }
  bool isAlike = isMovement(op) || isa<cta::ConvertLayoutOp, arith::ExtSIOp>(op);
  if (!isAlike && !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp,
                       arith::ExtUIOp, math::AbsIOp>(op))
    return std::nullopt;
  std::optional<Ends> x = endsOf(op->getOperand(0));
  if (!x || isAlike)
    return x;
  if (isa<arith::ExtUIOp>(op)) {
    if (x->bounds.low < 0)
      holds = both(holds, compare(Predicate::sge, x->low, constant(0)));
    x->bounds.low = std::max<int64_t>(x->bounds.low, 0);
    x->bounds.high = std::max<int64_t>(x->bounds.high, 0);
    return x;
  }
  if (isa<math::AbsIOp>(op))
    return magnitude(*x, bits);
  if (isa<arith::MulIOp>(op))
    return product(*x, op->getOperand(1), bits);
  std::optional<Ends> y = endsOf(op->getOperand(1));
  if (!y)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return within({make<arith::AddIOp>(x->low, y->low),
                   make<arith::AddIOp>(x->high, y->high),
                   {x->bounds.low + y->bounds.low, x->bounds.high + y->bounds.high}},
                  bits);
  if (isa<arith::SubIOp>(op))
    return within({make<arith::SubIOp>(x->low, y->high),
                   make<arith::SubIOp>(x->high, y->low),
                   {x->bounds.low - y->bounds.high, x->bounds.high - y->bounds.low}},
                  bits);
  if (isa<arith::MinSIOp>(op))
    return Ends{make<arith::MinSIOp>(x->low, y->low),
                make<arith::MinSIOp>(x->high, y->high),
                {std::min(x->bounds.low, y->bounds.low), std::min(x->bounds.high, y->bounds.high)}};
  return Ends{make<arith::MaxSIOp>(x->low, y->low),
              make<arith::MaxSIOp>(x->high, y->high),
              {std::max(x->bounds.low, y->bounds.low), std::max(x->bounds.high, y->bounds.high)}};
}

std::optional<Value> Answer::ofComparison(arith::CmpIOp op, bool wanted) {
  Predicate predicate = wanted ? op.getPredicate() : arith::invertPredicate(op.getPredicate());
  holds = Value();
  std::optional<Ends> l = endsOf(op.getLhs()), r = l ? endsOf(op.getRhs()) : std::nullopt;
  if (!r || predicate == Predicate::eq)
    return std::nullopt;
  if (predicate == Predicate::ne) {
    Value below = compare(Predicate::slt, l->high, r->low),
          above = compare(Predicate::sgt, l->low, r->high);
    return both(holds, make<arith::OrIOp>(below, above));
  }
  bool isUnsigned = predicate >= Predicate::ult;
  if (predicate == Predicate::sgt || predicate == Predicate::sge || predicate == Predicate::ugt ||
      predicate == Predicate::uge)
    std::swap(l, r);
  bool mayBeEqual = predicate == Predicate::sle || predicate == Predicate::sge ||
                    predicate == Predicate::ule || predicate == Predicate::uge;
  Value inOrder = compare(mayBeEqual ? Predicate::sle : Predicate::slt, l->high, r->low);
  // Two numbers above zero are in the same order without signs.
  if (isUnsigned && l->bounds.low < 0)
    holds = both(holds, compare(Predicate::sge, l->low, constant(0)));
  return both(holds, inOrder);
}

std::optional<Value> Answer::of(Value mask, bool wanted) {
  if (++lookedAt > kMostLookedAt)
    return std::nullopt;
  APInt known;
  if (matchPattern(mask, m_ConstantInt(&known)))
    return known.isOne() != wanted ? std::nullopt
           : b ? std::optional(arith::ConstantOp::create(*b, loc, b->getBoolAttr(true)).getResult())
               : std::optional(Value());
  if (!isa<RankedTensorType>(mask.getType())) {
    if (wanted || !b)
      return b ? mask : Value();
    Value yes = arith::ConstantOp::create(*b, loc, b->getBoolAttr(true));
    return make<arith::XOrIOp>(mask, yes);
  }
  Operation *op = mask.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isMovement(op) || isa<cta::ConvertLayoutOp>(op))
    return of(op->getOperand(0), wanted);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return ofComparison(compare, wanted);
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return of(op->getOperand(0), !wanted);
  if (!isa<arith::AndIOp, arith::OrIOp>(op))
    return std::nullopt;
  std::optional<Value> l = of(op->getOperand(0), wanted), r = of(op->getOperand(1), wanted);
  if (isa<arith::AndIOp>(op) == wanted)
    return l && r ? std::optional(both(*l, *r)) : std::nullopt;
  if (!l || !r)
    return l ? l : r;
  return make<arith::OrIOp>(*l, *r);
}

bool tile::mayBeWhole(Value mask, bool wanted) {
  return Answer(nullptr, mask.getLoc()).of(mask, wanted).has_value();
}

Value tile::isWhole(OpBuilder &b, Value mask, bool wanted) {
  return *Answer(&b, mask.getLoc()).of(mask, wanted);
}
