//===- OperandHomes.cpp - where operands of products are made -------------===//
//
// A part of LayoutInference. What warpgroups multiply they read from shared memory, or a left
// operand from registers. Where threads make it of something else, they best make it where they
// write it, or hold it for the product. So do warps that multiply what they make of copies: these
// are read in any layout.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/facts/Reach.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/Homes.h"
#include "passes/layouts/LayoutInference.h"
#include "passes/layouts/StagingLayouts.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using layout::Dim;

/// Whether `value` is what a product gave, `depth` operations on its elements ago at most.
static bool isOfProduct(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<DotOp, cta::WarpgroupDotOp, cta::WarpgroupWaitOp>(op))
    return true;
  return depth > 0 && isElementwise(op) &&
         llvm::any_of(op->getOperands(), [&](Value v) { return isOfProduct(v, depth - 1); });
}

bool tile::becomesOperands(Value value, unsigned depth, unsigned &budget) {
  if (value.use_empty())
    return false;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<DotOp, cta::WarpgroupDotOp>(user)) {
      if (use.getOperandNumber() == kDotAcc)
        return false;
      continue;
    }
    if (budget == 0 || depth == 0)
      return false;
    --budget;
    if (isa<cta::StageOp>(user))
      continue;
    bool isBesideResult = llvm::any_of(user->getOperands(), [&](Value other) {
      return other != value && isOfProduct(other, reach::kOperands);
    });
    if (isBesideResult || !(isElementwise(user) || isa<TransOp, ReshapeOp, JoinOp>(user)) ||
        !becomesOperands(user->getResult(0), depth - 1, budget))
      return false;
  }
  return true;
}

/// The layout of what `op` is made of (itself, turned, shaped, or one of two blocks that are
/// joined) in which its result is in `there` without an exchange; null: there is none.
static cta::LayoutAttr sourceLayout(Operation *op, cta::LayoutAttr there) {
  if (!there)
    return there;
  if (!isa<JoinOp>(op))
    return cta::LayoutAttr::get(there.getContext(), operandLayoutFor(op, there.getLayout()));
  auto parts = layout::split(there.getLayout());
  return parts && layout::join(parts->half) == there.getLayout()
             ? cta::LayoutAttr::get(there.getContext(), parts->half)
             : cta::LayoutAttr();
}

/// Where threads hold what a warpgroup product makes of `value`: as the instruction reads it, or as
/// shared memory is written at least cost.
cta::LayoutAttr LayoutInference::layoutAtProduct(Value value, unsigned depth) const {
  return layoutForUse(*value.use_begin(), depth);
}

cta::LayoutAttr LayoutInference::layoutForUse(OpOperand &use, unsigned depth) const {
  Operation *user = use.getOwner();
  Value value = use.get();
  if (auto found = dotsAhead.find(user); found != dotsAhead.end()) {
    cta::LayoutAttr there = found->second[use.getOperandNumber()];
    // Not where several warps would make the same.
    int64_t made = there.getLayout().inSize(Dim::reg()) * kLanes * coalescing.numWarps();
    return made <= blockType(value).getNumElements() ? there : cta::LayoutAttr();
  }
  if (auto stage = dyn_cast<cta::StageOp>(user))
    return stage.getType().getShape().size() == 2
               ? cta::LayoutAttr::get(
                     context,
                     cheapestWriting(stage.getType(), coalescing.numWarps(), targetOf(stage)))
               : cta::LayoutAttr();
  if (auto dot = dyn_cast<cta::WarpgroupDotOp>(user)) {
    RankedTensorType type = blockType(value);
    return cta::LayoutAttr::get(
        context, layout::warpgroupOperandA(
                     type.getDimSize(0), type.getDimSize(1), dot.getType().getDimSize(1),
                     getElementBytes(type.getElementType()), coalescing.numWarps()));
  }
  bool isLooked = isElementwise(user) || isa<TransOp, ReshapeOp, JoinOp>(user);
  cta::LayoutAttr there =
      depth > 0 && isLooked ? layoutAtProduct(user->getResult(0), depth - 1) : cta::LayoutAttr();
  return sourceLayout(user, there);
}

cta::LayoutAttr LayoutInference::layoutAtAllProducts(Value value, unsigned depth,
                                                     unsigned &budget) const {
  cta::LayoutAttr common;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    cta::LayoutAttr there;
    if (budget == 0)
      return {};
    --budget;
    if (isa<DotOp, cta::WarpgroupDotOp>(user))
      there = layoutForUse(use, 0);
    else if (depth > 0 && (isElementwise(user) || isa<TransOp, ReshapeOp, JoinOp>(user)))
      there = sourceLayout(user, layoutAtAllProducts(user->getResult(0), depth - 1, budget));
    if (!there || (common && there != common))
      return {};
    common = there;
  }
  return common;
}

/// The product that takes what becomes of `value`; null if that is written to shared memory for it.
static Operation *productOf(Value value) {
  for (unsigned step = 0; step < reach::kJoined && !value.use_empty(); ++step) {
    Operation *user = *value.user_begin();
    if (isa<DotOp, cta::WarpgroupDotOp>(user))
      return user;
    if (isa<cta::StageOp>(user))
      return nullptr;
    value = user->getResult(0);
  }
  return nullptr;
}

/// How many blocks of its shape are joined with `value` to the operand of its product.
static unsigned blocksInOperand(Value value) {
  unsigned blocks = 1;
  for (unsigned step = 0; step < reach::kJoined && !value.use_empty(); ++step) {
    Operation *user = *value.user_begin();
    if (isa<DotOp, cta::WarpgroupDotOp, cta::StageOp>(user))
      break;
    blocks *= isa<JoinOp>(user) ? 2 : 1;
    value = user->getResult(0);
  }
  return blocks;
}

/// Whether something that `value` is made of, element by element, is loaded for others, too: that
/// has a place of its own.
static bool isLoadedForOthers(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<LoadOp>(op))
    return !value.hasOneUse();
  return op && depth > 0 && isElementwise(op) &&
         llvm::any_of(op->getOperands(), [&](Value v) { return isLoadedForOthers(v, depth - 1); });
}

/// Whether such a block is combined with `value` on the way to its product: there, then.
static bool meetsOthers(Value value) {
  for (unsigned step = 0; step < reach::kJoined && !value.use_empty(); ++step) {
    Operation *user = *value.user_begin();
    if (!isElementwise(user))
      return false;
    if (llvm::any_of(user->getOperands(), [&](Value other) {
          return other != value && isLoadedForOthers(other, reach::kOperands);
        }))
      return true;
    value = user->getResult(0);
  }
  return false;
}

/// The same of what has no other use.
cta::LayoutAttr LayoutInference::layoutOfMultiplied(Value value) const {
  unsigned budget = reach::kUsersSeen;
  return becomesOperands(value, reach::kJoined, budget) ? layoutAtProduct(value, reach::kJoined)
                                                        : cta::LayoutAttr();
}

/// Whether `value` is a block that is loaded, perhaps changed element by element.
static bool isLoaded(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<LoadOp>(op))
    return true;
  return op && depth > 0 && isElementwise(op) &&
         llvm::any_of(op->getOperands(), [&](Value v) { return isLoaded(v, depth - 1); });
}

cta::LayoutAttr LayoutInference::layoutBesideMade(BroadcastOp op) const {
  for (Operation *user : op->getUsers())
    for (Value other : user->getOperands())
      if (other != op.getResult() && isLoaded(other, reach::kOperands))
        return {};
  return layoutOfMultiplied(op.getResult());
}

/// Of reading a copy in a layout: matrix instructions of warps have their own way to read 16 bits.
static lowering::Cost costOfReading(LoadOp load, cta::LayoutAttr layout, bool byMatrices,
                                    Coalescing &coalescing) {
  unsigned bytes = getElementBytes(getElementType(load.getType()));
  if (!byMatrices || bytes != 2 || !targetOf(load).has(Feature::Ldmatrix))
    return costOfLoading(load, layout, coalescing);
  double matrices = double(layout.getLayout().inSize(Dim::reg())) * bytes / kVectorBytes;
  return {matrices, matrices * kLanes * kVectorBytes / kLineBytes, 0};
}

cta::LayoutAttr LayoutInference::layoutOfChanged(Operation *op, cta::LayoutAttr home) const {
  LoadOp load;
  for (Value operand : op->getOperands())
    if (auto from = operand.getDefiningOp<LoadOp>(); from && natural(operand) == home)
      load = from;
  if (!load || !willComeFromRing(load, coalescing))
    return {};
  cta::LayoutAttr there = layoutOfMultiplied(op->getResult(0));
  unsigned budget = reach::kUsersSeen;
  if (there && !load->hasOneUse() &&
      layoutAtAllProducts(load.getResult(), reach::kJoined, budget) != there)
    return {};
  Operation *product = there ? productOf(op->getResult(0)) : nullptr;
  // As much is computed, not the same by several warps.
  if (!product || there == home ||
      there.getLayout().inSize(Dim::reg()) > home.getLayout().inSize(Dim::reg()))
    return {};
  unsigned warps = coalescing.numWarps();
  bool isOfWarps = isa<DotOp>(product);
  if (isOfWarps && meetsOthers(op->getResult(0)))
    return {};
  Type moved = getElementType(product->getOperand(kDotA).getType());
  lowering::Cost here = costOfLoading(load, home, coalescing);
  // Of blocks that are joined the whole would move.
  lowering::Cost moving =
      lowering::convertCost(home.getLayout(), there.getLayout(), moved, targetOf(op));
  for (unsigned blocks = blocksInOperand(op->getResult(0)); blocks > 0; --blocks)
    here += moving;
  // What several operations take in single bytes or halves is widened and put together by each.
  constexpr double kOfSeveral = 1.3;
  double reading = costOfReading(load, there, isOfWarps, coalescing).total(warps);
  if (!load->hasOneUse())
    reading *= kOfSeveral;
  return reading < here.total(warps) ? there : cta::LayoutAttr();
}
