//===- LoopSlice.cpp - what of a loop's iteration can be computed early ---===//
#include "passes/facts/LoopSlice.h"
#include "passes/facts/Overwrites.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Roles.h"

using namespace mlir;
using namespace tile;

std::optional<DenseSet<Value>> tile::writtenIn(scf::ForOp loop) {
  DenseSet<Value> roots;
  WalkResult result = loop.walk([&](Operation *op) {
    if (mayTell(op))
      return WalkResult::interrupt();
    bool isHarmless =
        collectChanged(op, roots) || isa<cta::CtaDialect>(op->getDialect()) ||
        op->hasTrait<OpTrait::IsTerminator>() ||
        isa<PrintOp, AssertOp, AssumeOp, LoadOp, DescriptorLoadOp, DescriptorGatherOp>(op) ||
        op->getNumRegions() != 0 || isMemoryEffectFree(op);
    return isHarmless ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return roots;
}

bool tile::isInvariant(Value v, LoopLikeOpInterface loop) {
  DenseSet<Operation *> seen;
  SmallVector<Value> left{v};
  while (!left.empty()) {
    Value next = left.pop_back_val();
    if (loop.isDefinedOutsideOfLoop(next))
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || op->getNumRegions() || !isMemoryEffectFree(op))
      return false;
    if (seen.insert(op).second)
      llvm::append_range(left, op->getOperands());
  }
  return true;
}

std::optional<SmallVector<Gain, 2>> tile::gainsOf(scf::ForOp loop, BlockArgument arg) {
  constexpr unsigned most = 8;
  SmallVector<Gain, 2> gains;
  // Back from what is passed on to what came in.
  for (Value v = loop.getTiedLoopYieldedValue(arg)->get(); v != arg;) {
    Operation *op = v.getDefiningOp();
    if (!op || !loop->isProperAncestor(op) || gains.size() > most)
      return std::nullopt;
    if (isa<HintOp>(op)) {
      v = op->getOperand(0);
      continue;
    }
    if (!isa<arith::AddIOp, arith::SubIOp, AddPtrOp>(op))
      return std::nullopt;
    bool isSwapped = isa<arith::AddIOp>(op) &&
                     (op->getOperand(1) == arg || loop.isDefinedOutsideOfLoop(op->getOperand(0)));
    gains.push_back({op, op->getOperand(isSwapped ? 0 : 1)});
    v = op->getOperand(isSwapped ? 1 : 0);
  }
  return gains;
}

bool Slice::add(ValueRange values) {
  llvm::SetVector<Operation *> newOps(ops);
  llvm::SetVector<unsigned> newCarried(carried);
  SmallVector<Value> work(values);
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (!v || loop.isDefinedOutsideOfLoop(v) || v == loop.getInductionVar())
      continue;
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      if (newCarried.insert(arg.getArgNumber() - 1))
        work.push_back(loop.getTiedLoopYieldedValue(arg)->get());
      continue;
    }
    Operation *op = v.getDefiningOp();
    if (!canRunAhead(op))
      return false;
    if (newOps.insert(op))
      llvm::append_range(work, op->getOperands());
  }
  ops = std::move(newOps);
  carried = std::move(newCarried);
  return true;
}

bool Slice::canRunAhead(Operation *op) {
  if (op->getBlock() != loop.getBody() || op->getNumRegions() != 0)
    return false;
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getIsVolatile() && !maySeeStores(load, loop, written);
  return isMemoryEffectFree(op) && !isa<DotOp, cta::WarpgroupDotOp>(op);
}
