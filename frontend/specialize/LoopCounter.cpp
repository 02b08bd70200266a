//===- LoopCounter.cpp - how the loop of a `range` counts -----------------===//
//
// The loops that passes know count up, in a signed type. They run as many turns as their bounds
// and step say, also where the counter steps past the end of its type behind the last one.
//
//   known bounds         a type in which that holds, found by exact arithmetic
//   32 bits, unsigned    64 bits
//   64 bits, unsigned    turns, whose number is computed before the loop
//   signed, long steps   64 bits, or turns
//   signed, far apart    64 bits, or turns
//   signed, short steps  as they are
//
// The last are nearly all loops.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/LoopCounter.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "text/Format.h"

using namespace mlir;
using llvm::APInt;
using llvm::StringRef;

namespace tile::specialize {

/// Enough for the distance of any two bounds.
static constexpr unsigned kExactBits = 128;
/// A step is long if fewer than 2^12 of them are in the type: no block is as large.
static constexpr unsigned kShortStepBits = 12;

struct LoopCounter::Bounds {
  Tensor start, stop, step; ///< as they were written
  std::optional<APInt> knownStart, knownStop, knownStep;
  DType type = Kind::Int32; ///< to which they promote

  bool areKnown() const { return knownStart && knownStop && knownStep; }
  bool countsDown() const { return knownStep && knownStep->isNegative(); }
  const Tensor &low() const { return countsDown() ? stop : start; }
  const Tensor &high() const { return countsDown() ? start : stop; }
  const std::optional<APInt> &knownLow() const { return countsDown() ? knownStop : knownStart; }
  const std::optional<APInt> &knownHigh() const { return countsDown() ? knownStart : knownStop; }
  /// The step without its sign.
  Tensor stepIn(Specializer &s, DType type) const {
    return countsDown() ? s.constant(PyValue::integer(knownStep->abs()), type) : s.cast(step, type);
  }
};

/// What `v` will be folded to, if that can be seen from the operations that it comes from.
static Attribute foldedValue(Value v, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 8;
  Operation *op = v.getDefiningOp();
  if (!op || depth > kMostDepth || op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isMemoryEffectFree(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(foldedValue(operand, depth + 1));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  return dyn_cast<Attribute>(results.front());
}

static std::optional<APInt> exactValue(const Tensor &t) {
  auto known = dyn_cast_or_null<IntegerAttr>(foldedValue(t.value));
  if (!known)
    return std::nullopt;
  const APInt &bits = known.getValue();
  return t.type.isSigned() ? bits.sext(kExactBits) : bits.zext(kExactBits);
}

/// A bound whose sign only the launch knows.
static bool mayBeNegative(const Tensor &t, const std::optional<APInt> &known) {
  return t.type.isSigned() && !known;
}

bool LoopCounter::read(Specializer &s, const RangeCall &range, Bounds &bounds) {
  bounds.start = s.tensor(range.start, "the start of a range");
  bounds.stop = s.tensor(range.stop, "the end of a range");
  bounds.step = s.tensor(range.step, "the step of a range");
  for (Tensor *t : {&bounds.start, &bounds.stop, &bounds.step}) {
    if (!*t)
      return false;
    if (t->isBlock() || !t->type.isInt()) {
      s.error(formatted("the bounds of a range must be scalar integers, got {}",
                        describe(t->type, t->shape())));
      return false;
    }
    std::string problem;
    // The sign of a step says in which direction, not that the counter has one.
    bool isKnownStep = t == &bounds.step && exactValue(*t);
    if (!isKnownStep || t->type.bitWidth() > bounds.type.bitWidth())
      bounds.type = promote({bounds.type}, {t->type}, false, problem).value_or(bounds.type);
  }
  bounds.knownStart = exactValue(bounds.start);
  bounds.knownStop = exactValue(bounds.stop);
  bounds.knownStep = exactValue(bounds.step);
  // Of a number with a sign and one without, what may be below zero has no value in 32 bits without
  // a sign. (In 64 there is no wider type: turns are counted on both sides of zero.)
  if (!bounds.type.isSigned() && bounds.type.bitWidth() < 64 &&
      (mayBeNegative(bounds.start, bounds.knownStart) ||
       mayBeNegative(bounds.stop, bounds.knownStop)))
    bounds.type = Kind::Int64;
  if (!bounds.knownStep || !bounds.knownStep->isZero())
    return true;
  s.error("the step of a range must not be 0");
  return false;
}

/// What Python's range has.
static APInt exactTurns(const APInt &low, const APInt &high, const APInt &step) {
  APInt none(kExactBits, 0);
  return low.slt(high) ? (high - low - 1).udiv(step) + 1 : none;
}

static bool isIn(const DType &type, const APInt &value) {
  return fits(PyValue::integer(value), type);
}

/// The least and the greatest value that is known to be taken; where bounds are compared as
/// 64 bits without a sign, they must be such values, too.
static SmallVector<APInt> knownExtremes(const LoopCounter::Bounds &bounds) {
  SmallVector<APInt> all;
  if (bounds.areKnown()) {
    APInt turns = exactTurns(*bounds.knownLow(), *bounds.knownHigh(), bounds.knownStep->abs());
    if (!turns.isZero())
      all = {*bounds.knownStart, *bounds.knownStart + *bounds.knownStep * (turns - 1)};
    return all;
  }
  bool isCompared = bounds.type == DType(Kind::UInt64);
  if (const std::optional<APInt> &low = bounds.knownLow())
    all.push_back(bounds.countsDown() && !isCompared ? *low + 1 : *low);
  if (const std::optional<APInt> &high = bounds.knownHigh(); high && isCompared)
    all.push_back(*high);
  return all;
}

/// The author's name has the type of the bounds, if that has all values it is known to take.
bool LoopCounter::chooseType(Specializer &s, const Bounds &bounds) {
  SmallVector<APInt> taken = knownExtremes(bounds);
  auto isOutside = [&](const DType &t) {
    return llvm::find_if(taken, [&](const APInt &value) { return !isIn(t, value); });
  };
  type = bounds.type;
  const APInt *outside = isOutside(type);
  if (outside == taken.end())
    return true;
  if ((bounds.areKnown() || type.bitWidth() < 64) && isOutside(Kind::Int64) == taken.end()) {
    type = Kind::Int64;
    return true;
  }
  s.error(formatted("the bounds of this range are together {}, which cannot hold {}: convert them "
                    "with `.to(tl.int64)`",
                    type.str(), llvm::toString(*outside, 10, /*Signed=*/true)));
  return false;
}

/// The loop counts from the lower bound to the upper in `counterType`.
void LoopCounter::makePlain(Specializer &s, const Bounds &bounds, DType counterType) {
  from = s.cast(bounds.low(), counterType);
  to = s.cast(bounds.high(), counterType);
  by = bounds.stepIn(s, counterType);
  if (bounds.countsDown())
    turned = s.arithmetic(BinaryOp::Add, from, to);
}

/// The loop counts its turns.
void LoopCounter::makeTurns(Specializer &s, const Bounds &bounds, const Tensor &turns) {
  from = s.intConstant(0, turns.type);
  to = turns;
  by = s.intConstant(1, turns.type);
  first = s.cast(bounds.start, type);
  stride = s.cast(bounds.step, type);
}

bool LoopCounter::makeKnown(Specializer &s, const Bounds &bounds) {
  const APInt &low = *bounds.knownLow(), &high = *bounds.knownHigh();
  APInt step = bounds.knownStep->abs(), turns = exactTurns(low, high, step);
  knownToRun = !turns.isZero();
  for (DType counter :
       {DType(type.bitWidth() < 64 ? Kind::Int32 : Kind::Int64), DType(Kind::Int64)})
    if (isIn(counter, low) && isIn(counter, high) && isIn(counter, (high - low).abs()) &&
        isIn(counter, low + turns * step) && isIn(counter, step)) {
      makePlain(s, bounds, counter);
      return true;
    }
  PyValue count = PyValue::integer(turns);
  if (!fits(count, Kind::Int64)) {
    s.error(formatted("this range has {} turns; a loop can have fewer than 2^63",
                      llvm::toString(turns, 10, /*Signed=*/false)));
    return false;
  }
  makeTurns(s, bounds, s.constant(count, fits(count, Kind::Int32) ? Kind::Int32 : Kind::Int64));
  return true;
}

/// More than 2^63 turns end as little as that many, and their halves as half of that.
static constexpr int64_t kMostTurns = std::numeric_limits<int64_t>::max();

/// (high - low - 1) / step + 1, of numbers without a sign of which the first is greater.
static Tensor turnsBetween(Specializer &s, const Tensor &low, const Tensor &high,
                           const Tensor &step) {
  Tensor one = s.intConstant(1, low.type);
  Tensor turns = s.arithmetic(BinaryOp::Sub, s.arithmetic(BinaryOp::Sub, high, low), one);
  return s.arithmetic(BinaryOp::Add, s.arithmetic(BinaryOp::FloorDiv, turns, step), one);
}

Tensor LoopCounter::countTurns(Specializer &s, const Bounds &bounds) const {
  DType plain = Kind::UInt64;
  if (type == plain && (mayBeNegative(bounds.start, bounds.knownStart) ||
                        mayBeNegative(bounds.stop, bounds.knownStop)))
    return countTurnsAcrossZero(s, bounds);
  Tensor low = s.cast(bounds.low(), type), high = s.cast(bounds.high(), type);
  Tensor isAny = s.compareSame(CompareOp::Lt, low, high);
  Tensor turns = turnsBetween(s, s.cast(low, plain), s.cast(high, plain), bounds.stepIn(s, plain));
  Tensor most = s.intConstant(kMostTurns, plain), none = s.intConstant(0, plain);
  turns = s.minMax(MinMax::Min, s.select(isAny, turns, none), most, /*propagateNan=*/false);
  return s.cast(turns, Kind::Int64);
}

/// Bounds of which one may be negative and the other above 2^63 are further apart than 64 bits
/// say: the turns below zero are counted first, and then those from where they end.
Tensor LoopCounter::countTurnsAcrossZero(Specializer &s, const Bounds &bounds) const {
  DType plain = Kind::UInt64;
  Tensor no = s.constant(PyValue::boolean(false), Kind::Int1), zero = s.intConstant(0, plain);
  auto isNegative = [&](const Tensor &t) {
    return t.type.isSigned() ? s.compareSame(CompareOp::Lt, t, s.intConstant(0, t.type)) : no;
  };
  Tensor isLowNegative = isNegative(bounds.low()), isHighNegative = isNegative(bounds.high());
  Tensor low = s.cast(bounds.low(), plain), high = s.cast(bounds.high(), plain);
  Tensor step = bounds.stepIn(s, plain);
  Tensor isAcross = s.select(isHighNegative, no, isLowNegative);
  // Of one sign, the order is that without it.
  Tensor isSameSign = s.compareSame(CompareOp::Eq, isLowNegative, isHighNegative);
  Tensor isBelow = s.compareSame(CompareOp::Lt, low, high);
  Tensor isAny = s.select(isSameSign, isBelow, isAcross);
  Tensor half = s.intConstant(kMostTurns / 2, plain);
  auto atMostHalf = [&](const Tensor &condition, const Tensor &turns) {
    return s.minMax(MinMax::Min, s.select(condition, turns, zero), half, /*propagateNan=*/false);
  };
  Tensor turns = turnsBetween(s, low, s.select(isAcross, zero, high), step);
  Tensor next = s.arithmetic(BinaryOp::Add, low, s.arithmetic(BinaryOp::Mul, turns, step));
  Tensor isMore = s.select(isAcross, s.compareSame(CompareOp::Lt, next, high), no);
  Tensor behind = turnsBetween(s, next, high, step);
  turns = s.arithmetic(BinaryOp::Add, atMostHalf(isAny, turns), atMostHalf(isMore, behind));
  return s.cast(turns, Kind::Int64);
}

bool LoopCounter::make(Specializer &s, const RangeCall &range) {
  Bounds bounds;
  if (!read(s, range, bounds) || !chooseType(s, bounds))
    return false;
  if (bounds.areKnown())
    return makeKnown(s, bounds);
  unsigned bits = type.bitWidth();
  bool isShort = !bounds.knownStep || bounds.knownStep->abs().isIntN(bits - kShortStepBits);
  // Passes compute how far known bounds are apart in the counter's type.
  bool isFar = bounds.knownStart && bounds.knownStop &&
               !isIn(type, *bounds.knownHigh() - *bounds.knownLow());
  if (bounds.type.isSigned() && isShort && !isFar) {
    makePlain(s, bounds, type);
    mayPassEnd = !bounds.knownStep || !bounds.knownStep->abs().isOne();
  } else if (bounds.type.bitWidth() < 64) {
    makePlain(s, bounds, Kind::Int64);
  } else {
    makeTurns(s, bounds, countTurns(s, bounds));
  }
  return true;
}

Tensor LoopCounter::valueAt(Specializer &s, Value counter) const {
  Tensor value{counter, from.type};
  if (first) {
    Tensor behind = s.arithmetic(BinaryOp::Mul, s.cast(value, type), stride);
    return s.arithmetic(BinaryOp::Add, first, behind);
  }
  if (turned)
    value = s.arithmetic(BinaryOp::Sub, turned, value);
  return s.cast(value, type);
}

Tensor LoopCounter::runs(Specializer &s) const { return s.compareSame(CompareOp::Lt, from, to); }

Tensor LoopCounter::lastValue(Specializer &s) const {
  Tensor one = s.intConstant(1, from.type);
  Tensor last = s.arithmetic(BinaryOp::Sub, to, one);
  std::optional<APInt> step = exactValue(by);
  if (!step || !step->isOne()) {
    // Without a sign, the distance fits.
    DType plain = from.type.bitWidth() == 64 ? Kind::UInt64 : Kind::UInt32;
    Tensor behind = s.arithmetic(BinaryOp::Sub, s.cast(last, plain), s.cast(from, plain));
    Tensor stride = s.cast(by, plain);
    behind = s.arithmetic(BinaryOp::FloorDiv, behind, stride);
    behind = s.arithmetic(BinaryOp::Mul, behind, stride);
    last = s.arithmetic(BinaryOp::Add, from, s.cast(behind, from.type));
  }
  return valueAt(s, last.value);
}

Value LoopCounter::next(Specializer &s, Value counter) const {
  Value next = s.create<arith::AddIOp>(counter, by.value);
  if (!mayPassEnd)
    return next;
  Value passed = s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, next, counter);
  return s.create<arith::SelectOp>(passed, to.value, next);
}

} // namespace tile::specialize
