//===- LintSums.cpp - padding that is added up ----------------------------===//
//
// A block that is longer than its row is loaded with a mask, and what the masked-off lanes hold is
// added up with the rest. Zeros do no harm; `(x - mean)^2` of a zero is no zero. The value of those
// lanes is followed from the load to the sum: a constant, some number, or not known, and only what
// is certain is said.
//
//===----------------------------------------------------------------------===//
#include "ir/Combiners.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "passes/LintKernel.h"
#include "text/Format.h"
#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::linting;

namespace {
/// What masked-off lanes hold.
struct Lanes {
  enum Kind { Unknown, Constant, Some } kind = Unknown; ///< Some: a number of its own, hardly 0
  double value = 0;
  static Lanes constant(double value) { return {Constant, value}; }
  static Lanes some() { return {Some, 0}; }
  bool is(double v) const { return kind == Constant && value == v; }
  bool isInfinite() const { return kind == Constant && std::isinf(value); }
};

/// The lanes where one part of a mask is false.
class PaddedLanes {
public:
  explicit PaddedLanes(Value part) : part(part) {}
  Lanes of(Value value, unsigned depth = 0);
  bool touchesLoad = false; ///< a load with that mask was met on the way

private:
  Lanes compute(Operation *op, Value value, unsigned depth);
  Lanes arithmetic(Operation *op, Lanes a, Lanes b);
  Lanes function(Operation *op, Lanes a);

  Value part;
  llvm::DenseMap<Value, Lanes> known;
};
} // namespace

/// Whether two values are computed alike: masks are often written out twice.
static bool isSame(Value a, Value b, unsigned depth = 0) {
  a = strip(a);
  b = strip(b);
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  constexpr unsigned mostDepth = 12;
  if (!x || !y || depth > mostDepth || x->getName() != y->getName() || x->getNumRegions() ||
      x->getNumOperands() != y->getNumOperands() || !isMemoryEffectFree(x) ||
      x->getAttrDictionary() != y->getAttrDictionary())
    return false;
  return llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()), [&](auto pair) {
    return isSame(std::get<0>(pair), std::get<1>(pair), depth + 1);
  });
}

/// The comparisons that a mask is made of.
static void collectParts(Value mask, SmallVectorImpl<Value> &parts) {
  mask = strip(mask);
  if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
    collectParts(both.getLhs(), parts);
    collectParts(both.getRhs(), parts);
  } else if (mask.getDefiningOp<arith::CmpIOp>()) {
    parts.push_back(mask);
  }
}

static bool hasPart(Value mask, Value part) {
  SmallVector<Value> parts;
  collectParts(mask, parts);
  return llvm::any_of(parts, [&](Value other) { return isSame(other, part); });
}

/// Whether a comparison, seen through movements from `mask`, differs along an axis of the mask.
static bool variesAlong(Value mask, Value part, int64_t axis) {
  Operation *op = mask.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(mask.getType());
  if (!op || !type || axis < 0 || axis >= type.getRank())
    return false;
  if (mask == part)
    return type.getDimSize(axis) > 1;
  if (auto both = dyn_cast<arith::AndIOp>(op))
    return variesAlong(both.getLhs(), part, axis) || variesAlong(both.getRhs(), part, axis);
  if (auto spread = dyn_cast<BroadcastOp>(op))
    return variesAlong(spread.getSrc(), part, axis);
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    int64_t added = expand.getAxis();
    return axis != added && variesAlong(expand.getSrc(), part, axis > added ? axis - 1 : axis);
  }
  return isa<HintOp>(op) && variesAlong(op->getOperand(0), part, axis);
}

Lanes PaddedLanes::arithmetic(Operation *op, Lanes a, Lanes b) {
  bool isProduct = isa<arith::MulFOp, arith::MulIOp>(op);
  bool isQuotient = isa<arith::DivFOp, DivRnOp>(op);
  if ((isProduct && (a.is(0) || b.is(0))) || (isQuotient && a.is(0) && !b.is(0)))
    return Lanes::constant(0);
  if (a.kind == Lanes::Unknown || b.kind == Lanes::Unknown)
    return {};
  bool isSum = isa<arith::AddFOp, arith::AddIOp>(op),
       isDifference = isa<arith::SubFOp, arith::SubIOp>(op);
  if (a.kind == Lanes::Constant && b.kind == Lanes::Constant) {
    double x = a.value, y = b.value;
    if (isSum || isDifference || isProduct || isQuotient)
      return Lanes::constant(isSum ? x + y : isDifference ? x - y : isProduct ? x * y : x / y);
    if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
      return Lanes::constant(std::max(x, y));
    return {};
  }
  // An infinity that marks the lanes stays one.
  if ((isSum || isDifference) && a.isInfinite())
    return a;
  if (isSum || isDifference || isProduct || isQuotient)
    return Lanes::some();
  return {};
}

Lanes PaddedLanes::function(Operation *op, Lanes a) {
  if (a.kind != Lanes::Constant)
    return a.kind == Lanes::Some && isa<math::ExpOp, math::Exp2Op>(op) ? Lanes::some() : Lanes();
  if (isa<math::ExpOp>(op))
    return Lanes::constant(std::exp(a.value));
  if (isa<math::Exp2Op>(op))
    return Lanes::constant(std::exp2(a.value));
  if (isa<math::SqrtOp>(op))
    return Lanes::constant(std::sqrt(a.value));
  if (isa<math::AbsFOp>(op))
    return Lanes::constant(std::fabs(a.value));
  if (isa<arith::NegFOp>(op))
    return Lanes::constant(-a.value);
  return {};
}

/// The number that a constant holds everywhere.
static std::optional<double> constantOf(Value value) {
  APFloat real(0.0);
  APInt whole;
  if (matchPattern(value, m_ConstantFloat(&real)))
    return real.convertToDouble();
  if (matchPattern(value, m_ConstantInt(&whole)))
    return double(whole.getSExtValue());
  return std::nullopt;
}

Lanes PaddedLanes::compute(Operation *op, Value value, unsigned depth) {
  if (std::optional<double> constant = constantOf(value))
    return Lanes::constant(*constant);
  if (isSame(value, part))
    return Lanes::constant(0);
  auto next = [&](Value operand) { return of(operand, depth + 1); };
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (!load.getMask() || !hasPart(load.getMask(), part))
      return {};
    touchesLoad = true;
    return load.getOther() ? next(load.getOther()) : Lanes::constant(0);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return hasPart(select.getCondition(), part) ? next(select.getFalseValue()) : Lanes();
  if (isa<ReduceOp>(op)) // a mean of each row, say
    return isa<FloatType>(getElementType(value.getType())) ? Lanes::some() : Lanes();
  if (isMovement(op) || isa<FpCastOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp,
                            arith::UIToFPOp, arith::ExtUIOp, arith::ExtSIOp>(op))
    return next(op->getOperand(0));
  if (op->getNumOperands() == 2 && op->getNumRegions() == 0)
    return arithmetic(op, next(op->getOperand(0)), next(op->getOperand(1)));
  return op->getNumOperands() == 1 ? function(op, next(op->getOperand(0))) : Lanes();
}

Lanes PaddedLanes::of(Value value, unsigned depth) {
  constexpr unsigned mostDepth = 60;
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType())) { // one number for all lanes
    std::optional<double> constant = op ? constantOf(value) : std::nullopt;
    return constant ? Lanes::constant(*constant) : Lanes::some();
  }
  if (!op || depth > mostDepth)
    return {};
  auto [it, inserted] = known.try_emplace(value, Lanes());
  if (!inserted)
    return it->second;
  Lanes lanes = compute(op, value, depth);
  return known[value] = lanes;
}

/// The masks of loads that a value comes from.
static void collectMasks(Value value, llvm::SetVector<Value> &masks,
                         llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || !seen.insert(op).second)
    return;
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (load.getMask())
      masks.insert(load.getMask());
    return;
  }
  for (Value operand : op->getOperands())
    collectMasks(operand, masks, seen);
}

void Linter::checkSum(ReduceOp sum) {
  if (!isSum(sum.getCombineBlock()))
    return;
  Value summed = sum.getSrcs().front();
  llvm::SetVector<Value> masks;
  llvm::SmallPtrSet<Operation *, 32> seen;
  collectMasks(summed, masks, seen);
  auto type = cast<RankedTensorType>(summed.getType());
  for (Value mask : masks) {
    auto maskType = dyn_cast<RankedTensorType>(mask.getType());
    if (!maskType || maskType.getRank() != type.getRank())
      continue;
    SmallVector<Value> parts;
    collectParts(mask, parts);
    for (Value part : parts) {
      if (!variesAlong(mask, part, sum.getAxis()) || intervals.truth(part))
        continue;
      PaddedLanes padding(part);
      Lanes lanes = padding.of(summed);
      bool enters =
          lanes.kind == Lanes::Some || (lanes.kind == Lanes::Constant && lanes.value != 0);
      if (!padding.touchesLoad || !enters)
        continue;
      std::string what =
          lanes.kind == Lanes::Some
              ? "what masked-off lanes have become here is no zero, and is added up with the rest"
              : formatted("masked-off lanes are {:.2f} here, and are added up with the rest",
                          lanes.value);
      return report(sum.getLoc(),
                    formatted("{}: clear them before the sum with `tl.where(mask, x, 0)`", what));
    }
  }
}
