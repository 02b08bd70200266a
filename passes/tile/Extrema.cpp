//===- Extrema.cpp - choices of the larger number that hands on NaN -------===//
//
// Contract and example: ExtremaPass in passes/tile/Passes.td.
//
// What may differ is the sign of a zero: of +0 and -0 the chip's maximum is +0, the choice its
// second number. So the second one must be seen to be no such zero, or the choice combines what is
// reduced, of which nobody says which one comes second. Limits that conversions have themselves
// (Saturation.cpp) are gone then.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/tile/Saturation.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_EXTREMAPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-extrema"
ALWAYS_ENABLED_STATISTIC(extremaFound, "choices that are one instruction");
ALWAYS_ENABLED_STATISTIC(limitsDropped, "limits that conversions have themselves");

/// Types of which there is an instruction that hands on NaN.
static bool hasExtrema(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || element.isF16() || element.isBF16();
}

/// `of`, asked whether it is NaN.
static bool asksForNan(Value condition, Value of) {
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  using P = arith::CmpFPredicate;
  return compare && (compare.getPredicate() == P::UNE || compare.getPredicate() == P::UNO) &&
         compare.getLhs() == of && compare.getRhs() == of;
}

/// Whether `condition` is that `left` is larger than `right`; false: less; nothing: neither.
static std::optional<bool> asksForLarger(Value condition, Value left, Value right) {
  using P = arith::CmpFPredicate;
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  if (!compare || (compare.getPredicate() != P::OGT && compare.getPredicate() != P::OLT))
    return std::nullopt;
  bool greater = compare.getPredicate() == P::OGT;
  if (compare.getLhs() == left && compare.getRhs() == right)
    return greater;
  if (compare.getLhs() == right && compare.getRhs() == left)
    return !greater;
  return std::nullopt;
}

/// Whether `v` is not the zero that the chip does not take for the larger (or the less) of two.
static bool isNoLesserZero(Value v, bool larger) {
  if (auto argument = dyn_cast<BlockArgument>(v))
    return isa<ReduceOp>(argument.getOwner()->getParentOp());
  Operation *op = v.getDefiningOp();
  APFloat f(0.0);
  if (matchPattern(v, m_ConstantFloat(&f)))
    return !f.isZero() || f.isNegative() != larger;
  if (isa<SplatOp, BroadcastOp, ExpandDimsOp, arith::ExtFOp, arith::TruncFOp>(op))
    return isNoLesserZero(op->getOperand(0), larger);
  return larger && isa<math::AbsFOp, math::ExpOp, math::Exp2Op>(op);
}

static void replace(arith::SelectOp select) {
  Value left = select.getTrueValue(), right = select.getFalseValue();
  auto condition = select.getCondition().getDefiningOp<arith::OrIOp>();
  if (!condition || !condition->hasOneUse() || !hasExtrema(select.getType()))
    return;
  std::optional<bool> larger;
  if (asksForNan(condition.getRhs(), left))
    larger = asksForLarger(condition.getLhs(), left, right);
  else if (asksForNan(condition.getLhs(), left))
    larger = asksForLarger(condition.getRhs(), left, right);
  if (!larger || !isNoLesserZero(right, *larger))
    return;
  OpBuilder b(select);
  Value extremum = *larger ? arith::MaximumFOp::create(b, select.getLoc(), left, right).getResult()
                           : arith::MinimumFOp::create(b, select.getLoc(), left, right).getResult();
  LDBG() << select << " is " << extremum;
  select.getResult().replaceAllUsesWith(extremum);
  select.erase();
  Value asked[] = {condition.getLhs(), condition.getRhs()};
  condition.erase();
  for (Value v : asked)
    if (v.use_empty())
      v.getDefiningOp()->erase();
  ++extremaFound;
}

namespace {
struct ExtremaPass : tile::impl::ExtremaPassBase<ExtremaPass> {
  void runOnOperation() override {
    // Numbers that stand for others are compared as these are.
    if (getOperation()->hasAttr(kAlgebraicAttr))
      return;
    getOperation().walk(replace);
    limitsDropped += dropSaturated(getOperation());
  }
};
} // namespace
