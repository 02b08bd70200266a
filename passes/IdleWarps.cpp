//===- IdleWarps.cpp - warps that would only repeat what others do --------===//
//
// A part of tile-fit-shared-memory. Blocks smaller than the threads that a program was given are
// held several times: half of the warps, or more, load, compute and wait as the others do, and
// store nothing. Half of them is as good, and leaves room for other programs.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/FormSearch.h"
#include "llvm/Support/DebugLog.h"

using namespace mlir;
using namespace tile;
using layout::Dim;

#define DEBUG_TYPE "tile-fit-shared-memory"

/// Whether the second half of `warps` holds of `type` what the first half does.
static bool isHeldTwice(Type type, int32_t warps) {
  auto block = dyn_cast<RankedTensorType>(type);
  auto layout = block ? dyn_cast_or_null<cta::LayoutAttr>(block.getEncoding()) : cta::LayoutAttr();
  if (!layout)
    return true;
  return llvm::all_of(layout.getLayout().apply({{Dim::warp(), warps / 2}}),
                      [](auto &coordinate) { return coordinate.second == 0; });
}

/// Whether the text may ask which thread runs it.
static bool asksForThread(Operation *op) {
  auto text = dyn_cast<InlineAsmOp>(op);
  return text && (!text.getPure() || text.getText().contains('%'));
}

/// Whether no block of the kernel is shared out among more than half of its warps.
static bool areHalfIdle(ModuleOp module) {
  int32_t warps = kernelOf(module).getWarps();
  auto areHeldTwice = [&](TypeRange types) {
    return llvm::all_of(types, [&](Type type) { return isHeldTwice(type, warps); });
  };
  return warps > 1 && !module
                           .walk([&](Operation *op) {
                             bool isAlike = areHeldTwice(op->getResultTypes()) &&
                                            areHeldTwice(op->getOperandTypes()) &&
                                            !asksForThread(op) && !isa<cta::RolesOp>(op);
                             for (Region &region : op->getRegions())
                               for (Block &block : region)
                                 isAlike &= areHeldTwice(block.getArgumentTypes());
                             return isAlike ? WalkResult::advance() : WalkResult::interrupt();
                           })
                           .wasInterrupted();
}

LogicalResult FormSearch::dropIdleWarps(ModuleOp asked, OwningOpRef<ModuleOp> &before, Made &made) {
  while (areHalfIdle(module)) {
    int32_t warps = kernelOf(module).getWarps() / 2;
    LDBG() << warps << " warps hold all that there is";
    KernelAttr wanted = kernelOf(asked);
    asked->setAttr(tile::kKernelAttr,
                   KernelAttr::get(module.getContext(), warps, wanted.getStages(), wanted.getCtas(),
                                   wanted.getRoles()));
    restore(asked);
    Made fewer;
    if (failed(make(before, fewer)))
      return failure();
    made = std::move(fewer);
  }
  return success();
}
