//===- Saturation.cpp - limits that a conversion has itself ---------------===//
//
// Kernels limit numbers to the range of an 8-bit float before they convert them, which
// `tile.fp_cast` does anyway. What it does not do is turn NaN into a number, as limits do that do
// not hand it on: of those the inner one stays, behind which nothing is NaN.
//
//===----------------------------------------------------------------------===//
#include "passes/tile/Saturation.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// `v` as a constant that is a number; nothing for NaN, or what only a launch knows.
static std::optional<APFloat> numberOf(Value v) {
  APFloat number(0.0);
  if (!matchPattern(v, m_ConstantFloat(&number)) || number.isNaN())
    return std::nullopt;
  return number;
}

/// Whether `limit` is at the end of what `to` can hold, or behind it.
static bool isBeyond(Value limit, FloatType to, bool isUpper) {
  std::optional<APFloat> number = numberOf(limit);
  if (!number || number->isNegative() == isUpper)
    return false;
  bool isInexact;
  APFloat most = APFloat::getLargest(to.getFloatSemantics());
  most.convert(number->getSemantics(), APFloat::rmNearestTiesToEven, &isInexact);
  return !isInexact && abs(*number) >= most;
}

/// Whether one side of `op` is such a limit, and what the other one is.
static Value limited(Operation *op, FloatType to, bool isUpper) {
  for (unsigned side : {0, 1})
    if (isBeyond(op->getOperand(side), to, isUpper))
      return op->getOperand(1 - side);
  return {};
}

/// Whether `v` is an extremum with a number, which is never NaN.
static bool isNumber(Value v) {
  Operation *op = v.getDefiningOp();
  return isa_and_nonnull<arith::MaxNumFOp, arith::MinNumFOp>(op) &&
         (numberOf(op->getOperand(0)) || numberOf(op->getOperand(1)));
}

static Value withoutLimits(OpBuilder &b, ClampOp clamp, FloatType to) {
  if (!isBeyond(clamp.getHigh(), to, /*isUpper=*/true) || !numberOf(clamp.getLow()))
    return {};
  Location loc = clamp.getLoc();
  if (!clamp.getPropagateNan())
    return arith::MaxNumFOp::create(b, loc, clamp.getX(), clamp.getLow());
  if (isBeyond(clamp.getLow(), to, /*isUpper=*/false))
    return clamp.getX();
  return arith::MaximumFOp::create(b, loc, clamp.getX(), clamp.getLow());
}

/// What may be converted to `to` in the place of `v`; null: nothing else.
static Value withoutLimit(OpBuilder &b, Value v, FloatType to) {
  Operation *op = v.getDefiningOp();
  if (!op || !op->hasOneUse())
    return {};
  if (auto clamp = dyn_cast<ClampOp>(op))
    return withoutLimits(b, clamp, to);
  if (isa<arith::MinimumFOp, arith::MaximumFOp>(op))
    return limited(op, to, isa<arith::MinimumFOp>(op));
  if (!isa<arith::MinNumFOp, arith::MaxNumFOp>(op))
    return {};
  Value other = limited(op, to, isa<arith::MinNumFOp>(op));
  return other && isNumber(other) ? other : Value();
}

unsigned tile::dropSaturated(ModuleOp module) {
  unsigned gone = 0;
  module.walk([&](FpCastOp cast) {
    auto to = dyn_cast<FloatType>(getElementTypeOrSelf(cast.getType()));
    if (!isa_and_nonnull<Float8E4M3FNType, Float8E5M2Type>(to))
      return;
    OpBuilder b(cast);
    Value old = cast.getSrc();
    while (Value v = withoutLimit(b, old, to)) {
      cast.getSrcMutable().assign(v);
      old.getDefiningOp()->erase();
      old = v;
      ++gone;
    }
  });
  return gone;
}
