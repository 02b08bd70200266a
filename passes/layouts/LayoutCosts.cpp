//===- LayoutCosts.cpp - layouts that are chosen by what they cost ---------===//
//
// A part of LayoutInference: scans, and loads of what products read from shared memory.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Hopper.h"
#include "passes/layouts/LayoutInference.h"
#include "passes/layouts/ScanLayouts.h"
#include "passes/layouts/StagingLayouts.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

static constexpr unsigned kWordBytes = 4;

void LayoutInference::inferScan(ScanOp op) {
  cta::LayoutAttr first = firstHome(op->getOperands(), op);
  if (!first)
    first = coalescing.shapeLayout(op.getInputType().getShape());
  SmallVector<PlacedBlock> operands, results;
  for (Value src : op.getSrcs())
    if (cta::LayoutAttr home = natural(src))
      operands.push_back({home.getLayout(), getElementType(src.getType())});
  for (Value result : op->getResults())
    if (cta::LayoutAttr wanted = wantedByUsers(result, /*accesses=*/true))
      results.push_back({wanted.getLayout(), getElementType(result.getType())});
  cta::LayoutAttr layout =
      get(cheapestForScan(op, first.getLayout(), operands, results, coalescing.numWarps()));
  works[op] = layout;
  for (Value result : op->getResults())
    setHome(result, layout);
}

/// The operand that `v`, perhaps changed element by element, becomes; null if it is needed
/// for anything else.
static cta::StageOp stageOf(Value v) {
  while (v.hasOneUse()) {
    Operation *user = *v.user_begin();
    if (auto stage = dyn_cast<cta::StageOp>(user))
      return stage;
    if (!user->hasTrait<OpTrait::Elementwise>() || user->getNumResults() != 1)
      return {};
    v = user->getResult(0);
  }
  return {};
}

/// Where what is loaded may live on its way to `stage`: as it is loaded best, in smaller
/// vectors (what is widened takes more than one store of a large one), or, if it has to be
/// turned, in squares in each thread, which are nearly as well loaded, and written by vectors.
static SmallVector<cta::LayoutAttr> candidates(LoadOp load, cta::StageOp stage,
                                               Coalescing &coalescing) {
  unsigned bytes = getElementBytes(stage.getType().getElementType());
  cta::LayoutAttr best = coalescing.anchor(load);
  SmallVector<cta::LayoutAttr> all{best};
  unsigned loaded = getElementBytes(getElementType(load.getType()));
  for (unsigned vector = coalescing.vectorFor(load, best.getLayout()) / 2;
       vector * loaded >= kWordBytes; vector /= 2)
    all.push_back(coalescing.anchorWith(load, vector));
  if (bytes == 2)
    return all;
  unsigned fast = 1 - *layout::minorOfSwizzledTile(stage.getType().getLinearLayout(), bytes);
  for (const LinearLayout &turned :
       turningLayouts(stage.getType().getShape(), fast, bytes, coalescing.numWarps()))
    if (auto attr = cta::LayoutAttr::get(load.getContext(), turned);
        coalescing.isGoodEnough(load, attr))
      all.push_back(attr);
  return all;
}

/// Of writing `stage` from `holders`: as it is, or, if it may lie either way, as is best.
static lowering::Cost costOfStaging(cta::StageOp stage, const LinearLayout &holders) {
  cta::BufferType type = stage.getType();
  const Target &target = targetOf(stage);
  Type element = type.getElementType();
  return lowering::stageCost(holders, cheapestImage(holders, type, target), element, target);
}

/// A wavefront for each line of 128 bytes, or each access where that is less.
static lowering::Cost costOfLoading(LoadOp load, cta::LayoutAttr layout, Coalescing &coalescing) {
  double accesses = coalescing.numAccesses(load, layout);
  double bytes = kLanes * coalescing.vectorFor(load, layout.getLayout()) *
                 getElementBytes(getElementType(load.getType()));
  return {accesses, accesses * std::max(bytes / kLineBytes, 1.0), 0};
}

/// Whether the block will be copied to shared memory as it lies, and made the operand there
/// (tile-pipeline-loads): then only its copies count.
static bool willBeCopied(LoadOp load, cta::StageOp stage) {
  return stage.getSrc() == load.getResult() && isa<scf::ForOp>(load->getParentOp()) &&
         kernelOf(load).getStages() != 1;
}

cta::LayoutAttr LayoutInference::layoutToStage(LoadOp load) {
  cta::StageOp stage = stageOf(load.getResult());
  if (!stage || willBeCopied(load, stage) ||
      getElementBytes(stage.getType().getElementType()) > 4 || !coalescing.isContiguous(load))
    return {};
  cta::LayoutAttr best;
  double least = 0;
  for (cta::LayoutAttr layout : candidates(load, stage, coalescing)) {
    lowering::Cost cost = costOfStaging(stage, layout.getLayout());
    cost += costOfLoading(load, layout, coalescing);
    double total = cost.total(coalescing.numWarps());
    if (best && total >= least)
      continue;
    best = layout;
    least = total;
  }
  return best;
}
