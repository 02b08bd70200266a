//===- MaskRuns.cpp - masks that change once within a group ----------------===//
#include "passes/facts/MaskRuns.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/facts/Intervals.h"

using namespace mlir;
using namespace tile;

/// Aligned runs without a jump: `value` counts up in each, and none holds numbers on both
/// sides of the sign.
static int64_t countingRun(Value value, unsigned axis, AxisInfoAnalysis &axes) {
  const AxisInfo &info = axes.get(value);
  return std::min(info.contiguity(axis), info.divisibility(axis));
}

/// Comparisons of a run with what is equal all along it change once.
static int64_t comparisonRun(arith::CmpIOp op, unsigned axis, MaskPart part,
                             AxisInfoAnalysis &axes) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  if (predicate == P::eq || predicate == P::ne)
    return 1;
  bool isBelow =
      predicate == P::slt || predicate == P::sle || predicate == P::ult || predicate == P::ule;
  int64_t best = 1;
  if (isBelow || part == MaskPart::Interval) // run < bound
    best = std::max(best, std::min(countingRun(op.getLhs(), axis, axes),
                                   axes.get(op.getRhs()).constancy(axis)));
  if (!isBelow || part == MaskPart::Interval) // bound > run
    best = std::max(best, std::min(countingRun(op.getRhs(), axis, axes),
                                   axes.get(op.getLhs()).constancy(axis)));
  return best;
}

int64_t tile::maskRun(Value mask, unsigned axis, MaskPart part, AxisInfoAnalysis &axes) {
  int64_t equal = axes.get(mask).constancy(axis), run = 1;
  Operation *op = mask.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op))
    run = std::min(maskRun(both.getLhs(), axis, part, axes),
                   maskRun(both.getRhs(), axis, part, axes));
  else if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
    run = comparisonRun(compare, axis, part, axes);
  else if (auto spread = dyn_cast_or_null<BroadcastOp>(op)) {
    if (cast<RankedTensorType>(spread.getSrc().getType()).getDimSize(axis) > 1)
      run = maskRun(spread.getSrc(), axis, part, axes);
  } else if (auto expand = dyn_cast_or_null<ExpandDimsOp>(op)) {
    if (expand.getAxis() != axis)
      run = maskRun(expand.getSrc(), axis - (expand.getAxis() < axis), part, axes);
  } else if (auto convert = dyn_cast_or_null<cta::ConvertLayoutOp>(op)) {
    run = maskRun(convert.getSrc(), axis, part, axes);
  }
  return std::max(equal, run);
}

/// Of a whole row that counts up from a number that is known, compared with one that is.
static int64_t mostBelow(arith::CmpIOp op, unsigned axis, int64_t size, AxisInfoAnalysis &axes) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  bool isSigned = predicate == P::slt || predicate == P::sle;
  bool isLess = predicate == P::slt || predicate == P::ult;
  std::optional<int64_t> bound = axes.get(op.getRhs()).constant;
  int64_t low = Intervals().of(op.getLhs()).low;
  if (!bound || *bound < 0 || low < 0 || axes.get(op.getLhs()).contiguity(axis) < size ||
      !(isSigned || isLess || predicate == P::ule))
    return size;
  return std::clamp<int64_t>(*bound - low + !isLess, 0, size);
}

int64_t tile::mostTrue(Value mask, unsigned axis, AxisInfoAnalysis &axes) {
  int64_t size = cast<RankedTensorType>(mask.getType()).getDimSize(axis);
  Operation *op = mask.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op))
    return std::min(mostTrue(both.getLhs(), axis, axes), mostTrue(both.getRhs(), axis, axes));
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
    return mostBelow(compare, axis, size, axes);
  if (auto expand = dyn_cast_or_null<ExpandDimsOp>(op))
    return expand.getAxis() == axis
               ? size
               : mostTrue(expand.getSrc(), axis - (expand.getAxis() < axis), axes);
  if (auto spread = dyn_cast_or_null<BroadcastOp>(op))
    return cast<RankedTensorType>(spread.getSrc().getType()).getDimSize(axis) == size
               ? mostTrue(spread.getSrc(), axis, axes)
               : size;
  return size;
}
