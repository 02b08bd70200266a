//===- DeadValues.cpp - remove what nothing observable needs --------------===//
//
// A value carried around a loop only to compute itself again (a pointer whose
// loads are gone) is used, yet dead. So liveness starts from effects and goes
// backwards; loops and branches are then rebuilt with what is left.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/DeadValues.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

namespace {
struct Marker {
  Liveness &live;
  SmallVector<Value> work;

  void needOp(Operation *op) {
    // An op is needed with all that surrounds it.
    for (; op && live.ops.insert(op).second; op = op->getParentOp()) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        needAll({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        need(branch.getCondition());
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        needWhile(loop);
      else if (op->getNumRegions() == 0 || !isa<scf::SCFDialect>(op->getDialect()))
        needAll(op->getOperands());
      // Combiners and other regions of an op belong to it.
      if (!isa<scf::SCFDialect>(op->getDialect()))
        for (Region &region : op->getRegions())
          if (op->getNumResults() || region.empty())
            region.walk([&](Operation *inner) {
              live.ops.insert(inner);
              needAll(inner->getOperands());
            });
    }
  }
  void needWhile(scf::WhileOp loop) { // kept whole: its condition may use anything
    needAll(loop.getInits());
    for (Operation *end :
         {loop.getConditionOp().getOperation(), loop.getYieldOp().getOperation()}) {
      live.ops.insert(end);
      needAll(end->getOperands());
    }
  }
  void needAll(ValueRange values) {
    for (Value v : values)
      need(v);
  }
  void need(Value v) {
    if (v && live.values.insert(v).second)
      work.push_back(v);
  }
  void run() {
    while (!work.empty())
      visit(work.pop_back_val());
  }
  void visit(Value v) {
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      Operation *parent = arg.getOwner()->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        if (arg != loop.getInductionVar())
          needCarried(loop, arg.getArgNumber() - 1);
      return;
    }
    auto result = cast<OpResult>(v);
    Operation *op = result.getOwner();
    unsigned index = result.getResultNumber();
    needOp(op);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      needCarried(loop, index);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      need(branch.thenYield().getOperand(index));
      need(branch.elseYield().getOperand(index));
    }
  }
  void needCarried(scf::ForOp loop, unsigned index) {
    needOp(loop);
    need(loop.getRegionIterArg(index));
    need(loop.getResult(index));
    need(loop.getInitArgs()[index]);
    need(loop.getYieldedValues()[index]);
  }
};
} // namespace

bool tile::hasOwnEffect(Operation *op) {
  if (isa<scf::SCFDialect>(op->getDialect()) || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  return !wouldOpBeTriviallyDead(op);
}

Liveness::Liveness(Block &block, llvm::function_ref<bool(Operation *)> isRoot) {
  Marker marker{*this, {}};
  block.walk([&](Operation *op) {
    if (isRoot(op))
      marker.needOp(op);
  });
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    marker.needOp(&block.back());
  marker.run();
}

/// Rebuilds `op` without the results whose value is dead.
static void rebuild(scf::ForOp op, const Liveness &live) {
  SmallVector<unsigned> kept;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    if (live.values.contains(op.getResult(i)))
      kept.push_back(i);
  if (kept.size() == op.getNumResults())
    return;
  OpBuilder b(op);
  SmallVector<Value> inits, yields;
  for (unsigned i : kept) { // the others may be gone
    inits.push_back(op.getInitArgs()[i]);
    yields.push_back(op.getYieldedValues()[i]);
  }
  auto fresh = scf::ForOp::create(b, op.getLoc(), op.getLowerBound(), op.getUpperBound(),
                                  op.getStep(), inits, nullptr, op.getUnsignedCmp());
  fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Operation *yield = op.getBody()->getTerminator();
  yield->setOperands(yields);
  fresh.getBody()->getOperations().clear();
  fresh.getBody()->getOperations().splice(fresh.getBody()->end(), op.getBody()->getOperations());
  op.getInductionVar().replaceAllUsesWith(fresh.getInductionVar());
  for (auto [to, i] : llvm::enumerate(kept)) {
    op.getRegionIterArg(i).replaceAllUsesWith(fresh.getRegionIterArg(to));
    op.getResult(i).replaceAllUsesWith(fresh.getResult(to));
  }
  op->dropAllUses(); // by dead places of other yields
  op.erase();
}

static void rebuild(scf::IfOp op, const Liveness &live) {
  SmallVector<unsigned> kept;
  SmallVector<Type> types;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    if (live.values.contains(op.getResult(i))) {
      kept.push_back(i);
      types.push_back(op.getResult(i).getType());
    }
  if (kept.size() == op.getNumResults())
    return;
  OpBuilder b(op);
  for (scf::YieldOp yield : {op.thenYield(), op.elseYield()}) { // has results, so both
    SmallVector<Value> values;
    for (unsigned i : kept)
      values.push_back(yield.getOperand(i));
    yield->setOperands(values);
  }
  auto fresh = scf::IfOp::create(b, op.getLoc(), types, op.getCondition(), false, false);
  fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  fresh.getThenRegion().takeBody(op.getThenRegion());
  fresh.getElseRegion().takeBody(op.getElseRegion());
  for (auto [to, i] : llvm::enumerate(kept))
    op.getResult(i).replaceAllUsesWith(fresh.getResult(to));
  op->dropAllUses();
  op.erase();
}

/// Takes dead operations out of a block, last first. What still names their
/// results (the dead places of a yield) loses them.
static void sweep(Block &block, const Liveness &live) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (!live.ops.contains(&op)) {
      op.dropAllUses();
      op.erase();
      continue;
    }
    if (isa<scf::SCFDialect>(op.getDialect()) || op.getNumResults() == 0)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          sweep(inner, live);
  }
}

void tile::eraseDeadValues(Block &block, llvm::function_ref<bool(Operation *)> isRoot) {
  Liveness live(block, isRoot);
  sweep(block, live);
  SmallVector<Operation *> structures;
  block.walk([&](Operation *op) { // inner ones first
    if (isa<scf::ForOp, scf::IfOp>(op))
      structures.push_back(op);
  });
  for (Operation *op : structures) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      rebuild(loop, live);
    else
      rebuild(cast<scf::IfOp>(op), live);
  }
}
