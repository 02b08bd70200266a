//===- PickedElement.cpp - sums with at most one element that is not zero -===//
#include "passes/facts/PickedElement.h"
#include "ir/Combiners.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// `v`, counted one by one along its only axis: where it starts.
static std::optional<int64_t> startOfRange(Value v) {
  Operation *op = v.getDefiningOp();
  while (op && isa<arith::ExtSIOp, cta::ConvertLayoutOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto range = dyn_cast_or_null<MakeRangeOp>(op);
  return range ? std::optional<int64_t>(range.getStart()) : std::nullopt;
}

static std::optional<OnlyIndex> onlyIndex(Value mask, unsigned axis) {
  Operation *op = mask.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::AndIOp>(op)) {
    std::optional<OnlyIndex> left = onlyIndex(op->getOperand(0), axis);
    return left ? left : onlyIndex(op->getOperand(1), axis);
  }
  if (isa<cta::ConvertLayoutOp>(op))
    return onlyIndex(op->getOperand(0), axis);
  if (isa<BroadcastOp>(op)) {
    bool isRepeated = cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(axis) == 1;
    return isRepeated ? std::nullopt : onlyIndex(op->getOperand(0), axis);
  }
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    unsigned added = unsigned(expand.getAxis());
    return added == axis ? std::nullopt : onlyIndex(expand.getSrc(), axis - (added < axis));
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      cast<RankedTensorType>(mask.getType()).getRank() != 1)
    return std::nullopt;
  for (auto [range, other] : {std::pair(compare.getLhs(), compare.getRhs()),
                              std::pair(compare.getRhs(), compare.getLhs())})
    if (std::optional<int64_t> start = startOfRange(range)) {
      APInt constant;
      if (matchPattern(other, m_ConstantInt(&constant)))
        return OnlyIndex{{}, constant.getSExtValue() - *start};
      if (auto splat = other.getDefiningOp<SplatOp>())
        return OnlyIndex{splat.getSrc(), -*start};
    }
  return std::nullopt;
}

std::optional<OnlyIndex> tile::pickedIndex(ReduceOp op) {
  if (!isSum(op.getCombineBlock()))
    return std::nullopt;
  auto chosen = op.getSrcs()[0].getDefiningOp<arith::SelectOp>();
  bool isZeroElse = chosen && (matchPattern(chosen.getFalseValue(), m_PosZeroFloat()) ||
                               matchPattern(chosen.getFalseValue(), m_Zero()));
  if (!isZeroElse || !isa<RankedTensorType>(chosen.getCondition().getType()))
    return std::nullopt;
  return onlyIndex(chosen.getCondition(), op.getAxis());
}
