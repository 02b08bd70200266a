//===- LongestFirst.cpp - programs that run longest start first -----------===//
//
// Contract and example: LongestFirstPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/facts/ProgramLengths.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_LONGESTFIRSTPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-longest-first"
ALWAYS_ENABLED_STATISTIC(kernelsTurned, "kernels whose longest programs start first");

static bool anyIn(func::FuncOp kernel, llvm::function_ref<bool(Operation *)> is) {
  return kernel
      .walk([&](Operation *op) { return is(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Whether a program might wait for one that the hardware starts before it: what others do is seen
/// through atomics, and by reading the same again and again.
static bool mayWaitForOthers(Operation *op) {
  if (isa<AtomicCasOp, InlineAsmOp>(op))
    return true;
  if (auto atomic = dyn_cast<AtomicRmwOp>(op))
    return !atomic->use_empty();
  auto load = dyn_cast<LoadOp>(op);
  return load && (load.getIsVolatile() || load->getParentOfType<scf::WhileOp>());
}

/// Whether a thread block takes programs in turn, in an order of its own.
static bool isLoopOfPrograms(Operation *op) { return op->hasAttr(cta::kProgramsLoopAttr); }

namespace {
struct LongestFirstPass : tile::impl::LongestFirstPassBase<LongestFirstPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!llvm::hasSingleElement(module.getOps<func::FuncOp>()))
      return;
    func::FuncOp kernel = *module.getOps<func::FuncOp>().begin();
    if (anyIn(kernel, isLoopOfPrograms) || anyIn(kernel, mayWaitForOthers))
      return;
    SmallVector<int32_t, 3> axes;
    for (int32_t axis = 0; axis < 3; ++axis)
      if (growAlong(kernel, axis))
        axes.push_back(axis);
    LDBG() << kernel.getName() << ": longer along " << axes.size() << " axes";
    if (axes.empty())
      return;
    module->setAttr(cta::kFromEndAttr, DenseI32ArrayAttr::get(module.getContext(), axes));
    ++kernelsTurned;
  }
};
} // namespace
