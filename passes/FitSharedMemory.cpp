//===- FitSharedMemory.cpp - the form of a kernel that fits a thread block ===//
//
// Contract and example: FitSharedMemoryPass in passes/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "mlir/Pass/PassManager.h"
#include "passes/FormSearch.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/facts/Refusals.h"

namespace tile {
#define GEN_PASS_DEF_FITSHAREDMEMORYPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Whether it was asked for what is not made for that reason.
static bool isOfInterest(Reason reason, WarpRoles roles) {
  if (reason == Reason::FitsNoTurns)
    return roles == WarpRoles::PingPong;
  return reason == Reason::FitsNoWarpgroups || roles == WarpRoles::Shared;
}

/// Whether so few warps may be too few for the blocks. A warpgroup with tall ones has looked for
/// another already.
static bool mayBeCrowded(int32_t warps) { return warps <= kWarpsOfWarpgroup; }

namespace {
struct FitSharedMemoryPass : tile::impl::FitSharedMemoryPassBase<FitSharedMemoryPass> {
  FitSharedMemoryPass() : pipeline(ModuleOp::getOperationName()) { buildCtaSteps(pipeline); }
  explicit FitSharedMemoryPass(tile::FitSharedMemoryPassOptions options)
      : FitSharedMemoryPassBase(options), pipeline(ModuleOp::getOperationName()) {
    buildCtaSteps(pipeline);
  }
  FitSharedMemoryPass(const FitSharedMemoryPass &other)
      : tile::impl::FitSharedMemoryPassBase<FitSharedMemoryPass>(other), pipeline(other.pipeline) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    pipeline.getDependentDialects(registry);
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Without warpgroup products there is nothing to give up, and nothing to keep.
    OwningOpRef<ModuleOp> before;
    bool hasProducts = module->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (smaller && hasProducts && targetOf(module).has(Feature::Wgmma))
      before = module.clone();
    OwningOpRef<ModuleOp> asked;
    bool maySpread = hasProducts && mayBeCrowded(kernelOf(module).getWarps());
    bool mayHaveIdle = !hasProducts && kernelOf(module).getWarps() > 1;
    if (smaller && isFree(kernelOf(module).getRoles()) && kernelOf(module).getCtas() <= 1 &&
        (maySpread || mayHaveIdle))
      asked = module.clone();
    auto run = [&](ModuleOp form) { return runPipeline(pipeline, form); };
    FormSearch search(module, run);
    FormSearch::Made made;
    if (failed(search.make(before, made)) || (before && failed(search.copyAhead(before, made))) ||
        (asked && maySpread && failed(search.spread(*asked, before, made))) ||
        (asked && mayHaveIdle && failed(search.dropIdleWarps(*asked, before, made))))
      return signalPassFailure();
    for (Diagnostic &remark : made.remarks)
      getContext().getDiagEngine().emit(std::move(remark));
    for (Reason reason : made.lost)
      if (isOfInterest(reason, made.wanted.getRoles()))
        refuse(*module.getOps<func::FuncOp>().begin(), reason);
  }

private:
  OpPassManager pipeline;
};
} // namespace
