//===- HoistStoreStarts.cpp - where results go, before they are computed --===//
//
// Needs:      warp roles made.
// Guarantees: the coordinates of a `cta.tma_store` are computed before the loop that
//             computes what is stored, as far as they do not depend on it: there
//             the warps wait for their operands anyway, behind it everybody waits
//             for the store.
// Never:      moves anything but scalar arithmetic.
//
// The optimiser would put that arithmetic back into the branch of the one thread that
// stores; so its results are marked to be computed where they stand.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/lowering/Scratch.h"

using namespace mlir;
using namespace tile;

/// The first loop with products in `block`.
static Operation *productLoop(Block &block) {
  for (Operation &op : block)
    if (isa<LoopLikeOpInterface>(op) &&
        op.walk([](cta::WarpgroupDotOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return &op;
  return nullptr;
}

/// Whether `v`, as far as it is computed behind `loop`, can be computed before it:
/// by what is `moved` then, in order.
static bool collect(Value v, Operation *loop, SetVector<Operation *> &moved) {
  Operation *op = v.getDefiningOp();
  if (!op || op->getBlock() != loop->getBlock() || op->isBeforeInBlock(loop) || moved.contains(op))
    return true; // what dominates the store from outside dominates the loop, too
  if (op == loop || op->getNumRegions() || !isMemoryEffectFree(op) ||
      llvm::any_of(op->getResultTypes(), [](Type t) { return isa<RankedTensorType>(t); }) ||
      !llvm::all_of(op->getOperands(), [&](Value o) { return collect(o, loop, moved); }))
    return false;
  moved.insert(op);
  return true;
}

static void hoist(cta::TmaStoreOp store) {
  // Behind a loop: the store itself, or a branch that it is in.
  Operation *loop = nullptr;
  for (Operation *top = store; !loop && !isa<func::FuncOp>(top); top = top->getParentOp()) {
    loop = productLoop(*top->getBlock());
    if (loop && !loop->isBeforeInBlock(top))
      return;
  }
  if (!loop)
    return;
  for (Value start : store.getStarts()) {
    Operation *op = start.getDefiningOp();
    SetVector<Operation *> moved;
    if (!op || matchPattern(start, m_Constant()) || op->getBlock() != loop->getBlock() ||
        !collect(start, loop, moved))
      continue;
    for (Operation *each : moved)
      each->moveBefore(loop);
    op->setAttr(lowering::kComputedHereAttr, UnitAttr::get(op->getContext()));
  }
}

namespace {
struct HoistStoreStartsPass : PassWrapper<HoistStoreStartsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistStoreStartsPass)
  StringRef getArgument() const override { return "tile-hoist-store-starts"; }
  StringRef getDescription() const override {
    return "compute the coordinates of stores before the products that they store";
  }
  void runOnOperation() override {
    getOperation().walk([](cta::TmaStoreOp store) { hoist(store); });
  }
};
} // namespace

std::unique_ptr<Pass> tile::createHoistStoreStartsPass() {
  return std::make_unique<HoistStoreStartsPass>();
}
