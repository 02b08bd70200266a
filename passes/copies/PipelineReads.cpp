//===- PipelineReads.cpp - what a loop reads of its copies -----------------===//
//
// A part of tile-pipeline-loads: what stands in the place of a load whose block lies in a slot.
//
//===----------------------------------------------------------------------===//
#include "passes/copies/Pipeline.h"
#include "passes/facts/PointerRoots.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/LayoutInference.h"
#include "passes/layouts/StagingLayouts.h"

using namespace mlir;
using namespace tile;

/// Products read `slot` in the order that `trans` wanted.
static void readTurned(TransOp trans, Value slot) {
  for (Operation *stage : llvm::make_early_inc_range(trans->getUsers())) {
    for (OpOperand &use : llvm::make_early_inc_range(stage->getUses())) {
      auto dot = cast<cta::WarpgroupDotOp>(use.getOwner());
      if (use.getOperandNumber() == 0)
        dot.setATurned(!dot.getATurned());
      else
        dot.setBTurned(!dot.getBTurned());
      use.set(slot);
    }
    stage->erase();
  }
  trans.erase();
}

/// What conversions behind `trans` give is read of `slot` where they want it.
static void readTransposed(TransOp trans, Value slot) {
  auto block = cast<RankedTensorType>(trans.getSrc().getType());
  for (Operation *user : llvm::make_early_inc_range(trans->getUsers())) {
    auto convert = dyn_cast<cta::ConvertLayoutOp>(user);
    if (!convert)
      continue;
    OpBuilder at(convert);
    auto holders = cta::LayoutAttr::get(at.getContext(),
                                        operandLayoutFor(trans, cta::getLayout(convert.getType())));
    auto read = RankedTensorType::get(block.getShape(), block.getElementType(), holders);
    convert.getResult().replaceAllUsesWith(
        TransOp::create(at, convert.getLoc(), cast<RankedTensorType>(convert.getType()),
                        cta::ReadOp::create(at, convert.getLoc(), read, slot), trans.getOrder()));
    convert.erase();
  }
  if (trans.use_empty())
    trans.erase();
}

/// Where `load` stands; or in front of the first use in the innermost branch that all uses of `v`
/// are in: what is not needed is not read, and takes no registers until it is.
static OpBuilder beforeUses(LoadOp load, Value v) {
  OpBuilder at(load);
  for (Block *block = load->getBlock(); block;) {
    Operation *first = nullptr;
    for (Operation *user : v.getUsers())
      if (Operation *here = block->findAncestorOpInBlock(*user);
          !first || here->isBeforeInBlock(first))
        first = here;
    if (block != load->getBlock())
      at.setInsertionPoint(first);
    block = nullptr;
    if (isa<scf::IfOp>(first))
      for (Region &branch : first->getRegions())
        if (llvm::all_of(v.getUsers(), [&](Operation *user) {
              return branch.isAncestor(user->getParentRegion());
            }))
          block = &branch.front();
  }
  return at;
}

void tile::readFromSlot(Pipeline &p, Copy &c, Value slot) {
  bool isWhole = readsZerosOutside(c.load);
  DenseSet<Operation *> turned; // as long as all users are there
  for (Operation *user : c.value.getUsers())
    if (auto trans = dyn_cast<TransOp>(user); trans && c.isReadTurned(trans))
      turned.insert(trans);
  for (Operation *user : llvm::make_early_inc_range(c.value.getUsers())) {
    OpBuilder at(user);
    auto stage = dyn_cast<cta::StageOp>(user);
    auto trans = dyn_cast<TransOp>(user);
    if (stage && c.isReadInPlace(stage)) {
      stage.getResult().replaceAllUsesWith(slot);
      stage.erase();
    } else if (turned.contains(user)) {
      readTurned(trans, slot);
    } else if (trans && isWhole) {
      readTransposed(trans, slot);
    } else if (stage) { // to be turned
      auto type = cast<RankedTensorType>(c.value.getType());
      unsigned warps = unsigned(cta::getLayout(type).inSize(layout::Dim::warp()));
      layout::LinearLayout turning =
          cheapestTurning(c.buffer.getLinearLayout(), stage.getType().getLinearLayout(),
                          type.getElementType(), warps, targetOf(stage));
      auto block = RankedTensorType::get(type.getShape(), type.getElementType(),
                                         cta::LayoutAttr::get(type.getContext(), turning));
      stage.getSrcMutable().assign(cta::ReadOp::create(at, stage.getLoc(), block, slot));
    } else if (auto dot = dyn_cast<DotOp>(user); dot && p.multiplied.contains(dot)) {
      unsigned operand = dot.getA() == c.value ? kDotA : kDotB;
      auto type = cast<RankedTensorType>(c.value.getType());
      auto block = RankedTensorType::get(
          type.getShape(), type.getElementType(),
          cta::LayoutAttr::get(type.getContext(), multiplyAddLayout(dot, operand)));
      dot->setOperand(operand, cta::ReadOp::create(at, dot.getLoc(), block, slot));
    } else if (auto convert = dyn_cast<cta::ConvertLayoutOp>(user); convert && isWhole) {
      Value read = cta::ReadOp::create(at, convert.getLoc(), convert.getType(), slot);
      convert.getResult().replaceAllUsesWith(read);
      convert.erase();
    }
  }
  if (!c.value.use_empty()) {
    OpBuilder at = beforeUses(c.load, c.value);
    Value read = cta::ReadOp::create(at, c.load.getLoc(), c.value.getType(), slot);
    if (!readsZerosOutside(c.load))
      read =
          arith::SelectOp::create(at, c.load.getLoc(), c.load.getMask(), read, c.load.getOther());
    c.value.replaceAllUsesWith(read);
  }
  for (TransOp trans : llvm::reverse(c.transpositions))
    trans.erase();
  c.load.erase();
}
