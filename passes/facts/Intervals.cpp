//===- Intervals.cpp - rough bounds of integers ---------------------------===//
#include "passes/facts/Intervals.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;
using namespace tile;

unsigned tile::bitsOf(Value value) {
  auto type = dyn_cast<IntegerType>(getElementType(value.getType()));
  return type ? type.getWidth() : 0;
}
static Interval everything(unsigned bits) {
  int64_t limit = bits >= 64 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
  return {-limit - 1, limit};
}

bool tile::isMovement(Operation *op) {
  return isa<SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp, HintOp, UnsplatOp>(op);
}

Interval Intervals::of(Value value) {
  unsigned bits = bitsOf(value);
  if (!bits || bits > 64)
    return everything(64);
  auto [it, inserted] = known.try_emplace(value, everything(bits));
  if (!inserted)
    return it->second;
  Interval result = compute(value, bits);
  if (!result.within(bits))
    result = everything(bits);
  return known[value] = result;
}

/// Of a number shifted down, or whose bits are joined with those of another: unsigned.
static Interval ofBits(Operation *op, Interval a, Interval b, unsigned bits) {
  if (isa<arith::OrIOp, arith::XOrIOp>(op)) {
    if (a.low < 0 || b.low < 0)
      return everything(bits);
    return {0,
            int64_t(llvm::maskTrailingOnes<uint64_t>(llvm::bit_width(uint64_t(a.high | b.high))))};
  }
  bool isKnown = b.low == b.high && b.low > 0 && b.low < int64_t(bits);
  if (!isKnown)
    return everything(bits);
  if (a.low >= 0 || isa<arith::ShRSIOp>(op))
    return {a.low >> b.low, a.high >> b.low};
  return {0, int64_t(llvm::maskTrailingOnes<uint64_t>(bits - unsigned(b.low)))};
}

Interval Intervals::compute(Value value, unsigned bits) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return everything(bits);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return {constant.getSExtValue(), constant.getSExtValue()};
  if (auto range = dyn_cast<MakeRangeOp>(op))
    return {int32_t(range.getStart()), int64_t(int32_t(range.getEnd())) - 1};
  if (isa<ProgramIdOp>(op))
    return {0, INT32_MAX - 1};
  if (isa<NumProgramsOp>(op))
    return {1, INT32_MAX};
  if (isMovement(op) || isa<arith::ExtSIOp, arith::TruncIOp, cta::ConvertLayoutOp>(op))
    return of(op->getOperand(0));
  if (isa<arith::ExtUIOp>(op)) {
    Interval from = of(op->getOperand(0));
    return from.low >= 0 ? from : everything(bits);
  }
  auto eitherOf = [&](Value one, Value other) {
    Interval a = of(one), b = of(other);
    return Interval{std::min(a.low, b.low), std::max(a.high, b.high)};
  };
  if (auto join = dyn_cast<JoinOp>(op))
    return eitherOf(join.getLhs(), join.getRhs());
  if (auto split = dyn_cast<SplitOp>(op))
    return of(split.getSrc());
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return eitherOf(select.getTrueValue(), select.getFalseValue());
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned result = cast<OpResult>(value).getResultNumber();
    return eitherOf(branch.thenYield().getOperand(result), branch.elseYield().getOperand(result));
  }
  return arithmetic(op, bits);
}

Interval Intervals::arithmetic(Operation *op, unsigned bits) {
  if (op->getNumOperands() != 2 || !isa<arith::ArithDialect>(op->getDialect()))
    return everything(bits);
  Interval a = of(op->getOperand(0)), b = of(op->getOperand(1));
  // Wide enough for all that is computed; what does not fit is cut to nothing known.
  auto make = [&](__int128 low, __int128 high) {
    Interval all = everything(bits);
    return low < all.low || high > all.high ? all : Interval{int64_t(low), int64_t(high)};
  };
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case<arith::AddIOp>(
          [&](auto) { return make(__int128(a.low) + b.low, __int128(a.high) + b.high); })
      .Case<arith::SubIOp>(
          [&](auto) { return make(__int128(a.low) - b.high, __int128(a.high) - b.low); })
      .Case<arith::MulIOp>([&](auto) {
        __int128 p[] = {__int128(a.low) * b.low, __int128(a.low) * b.high, __int128(a.high) * b.low,
                        __int128(a.high) * b.high};
        return make(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
      })
      .Case<arith::MinSIOp>(
          [&](auto) { return make(std::min(a.low, b.low), std::min(a.high, b.high)); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return make(std::max(a.low, b.low), std::max(a.high, b.high)); })
      .Case<arith::AndIOp>([&](auto) {
        return b.low >= 0 ? make(0, b.high) : a.low >= 0 ? make(0, a.high) : everything(bits);
      })
      .Case<arith::OrIOp, arith::XOrIOp, arith::ShRUIOp, arith::ShRSIOp>(
          [&](auto) { return ofBits(op, a, b, bits); })
      .Case<arith::RemSIOp>([&](auto) {
        if (b.low <= 0)
          return everything(bits);
        return make(a.low < 0 ? -(b.high - 1) : 0,
                    std::min(b.high - 1, std::max<int64_t>(a.high, 0)));
      })
      .Case<arith::DivSIOp>([&](auto) {
        return a.low >= 0 && b.low > 0 ? make(a.low / b.high, a.high / b.low) : everything(bits);
      })
      .Default([&](Operation *) { return everything(bits); });
}

/// One range of lanes, scaled and moved by constants.
bool Intervals::isExact(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<MakeRangeOp>(op) || matchPattern(value, m_Constant()))
    return true;
  if (isMovement(op) || isa<arith::ExtSIOp>(op))
    return isExact(op->getOperand(0));
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return false;
  auto isConstant = [](Value v) {
    while (Operation *def = v.getDefiningOp()) {
      if (!isMovement(def))
        return matchPattern(v, m_Constant());
      v = def->getOperand(0);
    }
    return false;
  };
  return (isConstant(op->getOperand(0)) && isExact(op->getOperand(1))) ||
         (isConstant(op->getOperand(1)) && isExact(op->getOperand(0)));
}

Truth Intervals::comparison(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  Interval a = of(op.getLhs()), b = of(op.getRhs());
  bool isUnsigned = op.getPredicate() >= P::ult;
  if (isUnsigned && (a.low < 0 || b.low < 0))
    return std::nullopt;
  auto decide = [](bool yes, bool no) { return yes ? Truth(true) : no ? Truth(false) : Truth(); };
  switch (op.getPredicate()) {
  case P::slt:
  case P::ult:
    return decide(a.high < b.low, a.low >= b.high);
  case P::sle:
  case P::ule:
    return decide(a.high <= b.low, a.low > b.high);
  case P::sgt:
  case P::ugt:
    return decide(a.low > b.high, a.high <= b.low);
  case P::sge:
  case P::uge:
    return decide(a.low >= b.high, a.high < b.low);
  case P::eq:
  case P::ne: {
    bool isEqual = op.getPredicate() == P::eq;
    if (a.high < b.low || b.high < a.low)
      return !isEqual;
    return a.low == a.high && b.low == b.high ? Truth(isEqual) : Truth();
  }
  }
  return std::nullopt;
}

Truth Intervals::truth(Value mask) {
  Operation *op = mask.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (matchPattern(mask, m_One()))
    return true;
  if (matchPattern(mask, m_Zero()))
    return false;
  if (isMovement(op))
    return truth(op->getOperand(0));
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return comparison(compare);
  if (!isa<arith::AndIOp>(op))
    return std::nullopt;
  Truth a = truth(op->getOperand(0)), b = truth(op->getOperand(1));
  if ((a && !*a) || (b && !*b))
    return false;
  return a && b ? Truth(true) : Truth();
}

Value tile::strip(Value v) {
  while (Operation *def = v.getDefiningOp()) {
    if (!isMovement(def) && !isa<arith::ExtSIOp>(def))
      break;
    v = def->getOperand(0);
  }
  return v;
}

uint64_t tile::mostTurns(scf::ForOp loop) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  Intervals intervals;
  Interval from = intervals.of(loop.getLowerBound()), to = intervals.of(loop.getUpperBound());
  // Unsigned, the distance does not overflow.
  uint64_t distance = to.high > from.low ? uint64_t(to.high) - uint64_t(from.low) : 0;
  return llvm::divideCeil(distance, uint64_t(std::max<int64_t>(step.value_or(1), 1)));
}
