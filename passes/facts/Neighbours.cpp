//===- Neighbours.cpp - what programs side by side have in common ---------===//
#include "passes/facts/Neighbours.h"
#include "ir/TileDialect.h"

using namespace mlir;
using namespace tile;

void Neighbours::add(ValueRange values) {
  for (Value v : values)
    if (differing.insert(v).second)
      open.push_back(v);
}

/// A bound decides what a loop leaves, and where it starts, how far it is when a turn begins.
void Neighbours::followIntoLoop(scf::ForOp loop, OpOperand &use) {
  if (BlockArgument arg = loop.getTiedLoopRegionIterArg(&use)) {
    add({arg, loop.getTiedLoopResult(arg)});
    return;
  }
  add(loop.getResults());
  if (use.get() != loop.getUpperBound() || use.get() == loop.getLowerBound())
    add(loop.getRegionIterArgs());
  if (use.get() == loop.getStep())
    add(loop.getInductionVar());
}

void Neighbours::follow(OpOperand &use) {
  Operation *user = use.getOwner(), *parent = user->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(user)) {
    followIntoLoop(loop, use);
  } else if (isa<scf::YieldOp>(user) && isa<scf::ForOp>(parent)) {
    BlockArgument arg = cast<scf::ForOp>(parent).getRegionIterArg(use.getOperandNumber());
    add({arg, cast<scf::ForOp>(parent).getTiedLoopResult(arg)});
  } else if (isa<scf::YieldOp>(user) && isa<scf::IfOp>(parent)) {
    add(parent->getResult(use.getOperandNumber()));
  } else {
    Operation *op = user->hasTrait<OpTrait::IsTerminator>() ? parent : user;
    add(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        add(block.getArguments());
  }
}

void Neighbours::followAll() {
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses())
      follow(use);
}

Neighbours::Neighbours(func::FuncOp kernel, int32_t axis) {
  kernel.walk([&](ProgramIdOp id) {
    if (int32_t(id.getAxis()) == axis)
      add(id.getResult());
  });
  followAll();
}

Neighbours::Neighbours(scf::ForOp turns) {
  add(turns.getInductionVar());
  add(turns.getRegionIterArgs());
  turns.walk([&](Operation *op) {
    if (!op->getNumRegions() && !isMemoryEffectFree(op))
      add(op->getResults());
  });
  followAll();
}
