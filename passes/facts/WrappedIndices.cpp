//===- WrappedIndices.cpp - whether what indices that wrap lead to is seen ===//
//
// Where indices wrap around (`% M`), TMA gives zeros instead of the rows of the start.
// What is computed from those rows is followed to the stores, whose masks or shapes
// must leave it out.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/WrappedIndices.h"
#include "ir/CtaDialect.h"

using namespace mlir;
using namespace tile;

static bool isDead(Value v, unsigned dim, const Polynomial &first, StridedAnalysis &analysis,
                   DenseSet<Value> &seen) {
  if (!seen.insert(v).second)
    return true;
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<StoreOp>(user)) {
      auto bounds = analysis.bounds(store.getMask());
      if (use.get() != store.getValue() || !bounds || llvm::none_of(*bounds, [&](const Bound &b) {
            return b.dim == dim && !b.isLower && b.limit == first;
          }))
        return false;
      continue;
    }
    if (auto store = dyn_cast<DescriptorStoreOp>(user)) {
      Polynomial end =
          analysis.scalar(store.getShape()[dim]) - analysis.scalar(store.getOffsets()[dim]);
      if (!(end == first))
        return false;
      continue;
    }
    if (isa<scf::YieldOp>(user)) {
      Operation *parent = user->getParentOp();
      unsigned index = use.getOperandNumber();
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        if (!isDead(loop.getRegionIterArg(index), dim, first, analysis, seen))
          return false;
      if (!isa<scf::ForOp, scf::IfOp>(parent) ||
          !isDead(parent->getResult(index), dim, first, analysis, seen))
        return false;
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      BlockArgument arg = loop.getTiedLoopRegionIterArg(&use);
      if (!arg || !isDead(arg, dim, first, analysis, seen) ||
          !isDead(loop.getTiedLoopResult(&use), dim, first, analysis, seen))
        return false;
      continue;
    }
    auto dot = dyn_cast<DotOp>(user);
    auto warpgroupDot = dyn_cast<cta::WarpgroupDotOp>(user);
    if (auto trans = dyn_cast<TransOp>(user)) {
      unsigned to = llvm::find(trans.getOrder(), int32_t(dim)) - trans.getOrder().begin();
      if (!isDead(trans.getResult(), to, first, analysis, seen))
        return false;
      continue;
    }
    bool isAcc = (dot && dot.getAcc() == v) || (warpgroupDot && warpgroupDot.getAcc() == v);
    bool isElementwise = user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1 &&
                         !isa<AddPtrOp>(user);
    if ((!isAcc && !isElementwise) || !isDead(user->getResult(0), dim, first, analysis, seen))
      return false;
  }
  return true;
}

bool tile::isDeadBeyond(Value v, unsigned dim, const Polynomial &first, StridedAnalysis &analysis) {
  DenseSet<Value> seen;
  return isDead(v, dim, first, analysis, seen);
}
