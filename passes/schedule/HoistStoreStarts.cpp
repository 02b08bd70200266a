//===- HoistStoreStarts.cpp - where results go, before they are computed --===//
//
// Contract and example: HoistStoreStartsPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/memory/Scratch.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_HOISTSTORESTARTSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-hoist-store-starts"
ALWAYS_ENABLED_STATISTIC(startsHoisted, "coordinates of stores computed before products");

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
    ++startsHoisted;
    LDBG() << moved.size() << " operations, with " << *op;
    op->setAttr(cta::kComputedHereAttr, UnitAttr::get(op->getContext()));
  }
}

namespace {
struct HoistStoreStartsPass : tile::impl::HoistStoreStartsPassBase<HoistStoreStartsPass> {
  void runOnOperation() override {
    getOperation().walk([](cta::TmaStoreOp store) { hoist(store); });
  }
};
} // namespace
