//===- StridedBounds.cpp - masks as bounds on the dimensions of tiles -----===//
//
// The part of StridedAnalysis (StridedAccess.h) that reads masks: a conjunction of comparisons,
// each of which holds from some index along one dimension on, or up to it.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/facts/StridedAccess.h"

using namespace mlir;
using namespace tile;

/// positive > 0 as a bound, if it depends on one dimension with stride 1 or -1.
static std::optional<Bound> boundOf(const StridedBlock &positive) {
  if (!positive.wraps.empty())
    return std::nullopt;
  std::optional<Bound> bound;
  for (auto [dim, stride] : llvm::enumerate(positive.strides)) {
    if (stride.isZero())
      continue;
    std::optional<int64_t> step = stride.asConstant();
    if (bound || !step || (*step != 1 && *step != -1))
      return std::nullopt;
    // start + i > 0  <=>  i >= 1 - start;   start - i > 0  <=>  i < start
    bound = Bound{unsigned(dim), *step == 1,
                  *step == 1 ? Polynomial::constant(1) - positive.start : positive.start};
  }
  return bound;
}

std::optional<SmallVector<Bound, 4>> StridedAnalysis::bounds(Value mask) {
  SmallVector<Bound, 4> result;
  if (!mask || matchPattern(mask, m_One()))
    return result;
  Operation *op = mask.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::AndIOp>(op)) {
    for (Value operand : op->getOperands()) {
      auto part = bounds(operand);
      if (!part)
        return std::nullopt;
      llvm::append_range(result, *part);
    }
    return result;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    using P = arith::CmpIPredicate;
    P predicate = compare.getPredicate();
    bool less = predicate == P::slt || predicate == P::sle;
    bool greater = predicate == P::sgt || predicate == P::sge;
    if (!less && !greater)
      return std::nullopt;
    std::optional<StridedBlock> l = block(compare.getLhs()), r = block(compare.getRhs());
    if (!l || !r)
      return std::nullopt;
    StridedBlock positive = less ? *r - *l : *l - *r;
    if (predicate == P::sle || predicate == P::sge)
      positive.start = positive.start + Polynomial::constant(1);
    std::optional<Bound> bound = boundOf(positive);
    if (!bound)
      return std::nullopt;
    result.push_back(std::move(*bound));
    return result;
  }
  if (!isa<BroadcastOp, ExpandDimsOp, TransOp>(op))
    return std::nullopt;
  auto inner = bounds(op->getOperand(0));
  if (!inner)
    return std::nullopt;
  for (Bound &bound : *inner) {
    if (auto expand = dyn_cast<ExpandDimsOp>(op))
      bound.dim += bound.dim >= expand.getAxis();
    else if (auto trans = dyn_cast<TransOp>(op))
      bound.dim = llvm::find(trans.getOrder(), int32_t(bound.dim)) - trans.getOrder().begin();
    else if (cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(bound.dim) == 1)
      return std::nullopt; // one bound for all repetitions
    result.push_back(std::move(bound));
  }
  return result;
}
