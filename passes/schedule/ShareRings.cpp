//===- ShareRings.cpp - neighbouring programs in one thread block ---------===//
//
// Contract and example: ShareRingsPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/Passes.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/Neighbours.h"
#include "passes/facts/ProgramLengths.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "passes/schedule/SplitGrid.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_SHARERINGSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-share-rings"
ALWAYS_ENABLED_STATISTIC(kernelsShared, "kernels of which a thread block runs several programs");

/// Operands that threads load in a loop: shared memory for each, and groups that wait for
/// themselves. That is for who asks for it.
static bool copiesItself(Operation *op) {
  return isa<DotOp, cta::StageOp>(op) && op->getParentOfType<LoopLikeOpInterface>() &&
         kernelOf(op).getRoles() != WarpRoles::Shared;
}

/// A program that does not exist does as the last one, but leaves nothing behind.
static bool isHarmless(Operation *op) {
  if (op->getNumRegions() || isMemoryEffectFree(op) ||
      isa<StoreOp, cta::TmaStoreOp, AssumeOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return true;
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getIsVolatile();
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && effects.onlyHasEffect<MemoryEffects::Read>();
}

namespace {
/// The programs of a kernel along one axis of the grid.
class Sharing {
public:
  Sharing(func::FuncOp kernel, int32_t axis)
      : kernel(kernel), neighbours(kernel, axis), facts(kernel), axis(axis) {}
  /// Why they cannot share what their loops copy; nothing if they can.
  std::optional<Reason> obstacle();

private:
  std::optional<Reason> obstacleOf(cta::TmaLoadOp load);
  bool comesByAlike(Operation *parent);
  bool startsInStep(scf::ForOp loop);

  func::FuncOp kernel;
  Neighbours neighbours;
  AxisInfoAnalysis facts;
  int32_t axis;
};
} // namespace

/// Whether all programs enter `parent`, and as often, with whatever is around it.
bool Sharing::comesByAlike(Operation *parent) {
  for (; parent != kernel; parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    auto branch = dyn_cast<scf::IfOp>(parent);
    if (loop ? neighbours.differ({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
             : !branch || neighbours.differ(branch.getCondition()))
      return false;
  }
  return true;
}

/// Whether turns of several programs start at the same numbers, if they are in sight of each other.
bool Sharing::startsInStep(scf::ForOp loop) {
  if (!neighbours.differ(loop.getLowerBound()))
    return true;
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  return step && *step > 0 && facts.get(loop.getLowerBound()).divisibility(0) % *step == 0;
}

std::optional<Reason> Sharing::obstacleOf(cta::TmaLoadOp load) {
  if (neighbours.differ(load.getMap()))
    return Reason::ShareLoadsDiffer;
  bool areAlike = !neighbours.differ(load.getStarts());
  if (!load->getParentOfType<LoopLikeOpInterface>()) {
    bool isAlways = load->getParentOp() == kernel;
    return isAlways || (areAlike && comesByAlike(load->getParentOp()))
               ? std::nullopt
               : std::optional(Reason::ShareBranches);
  }
  if (!areAlike)
    return Reason::ShareLoadsDiffer;
  if (comesByAlike(load->getParentOp()))
    return std::nullopt;
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  if (!loop || loop->getParentOp() != kernel || neighbours.differ(loop.getStep()))
    return Reason::ShareBranches;
  return startsInStep(loop) ? std::nullopt : std::optional(Reason::ShareOutOfStep);
}

std::optional<Reason> Sharing::obstacle() {
  bool isThere = false, isInLoop = false, isHarmful = false;
  std::optional<Reason> why;
  kernel.walk([&](Operation *op) {
    if (auto id = dyn_cast<ProgramIdOp>(op))
      isThere |= int32_t(id.getAxis()) == axis;
    isHarmful |= op != kernel && (!isHarmless(op) || copiesItself(op));
    auto load = dyn_cast<cta::TmaLoadOp>(op);
    isInLoop |= load && load->getParentOfType<LoopLikeOpInterface>();
    if (load && !why)
      why = obstacleOf(load);
  });
  if (!isThere || !isInLoop)
    return Reason::ShareNothing;
  if (isHarmful)
    return Reason::ShareDoesMore;
  return why;
}

namespace {
struct ShareRingsPass : tile::impl::ShareRingsPassBase<ShareRingsPass> {
  using ShareRingsPassBase::ShareRingsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    int32_t wanted = programs;
    if (auto attr = module->getAttrOfType<IntegerAttr>(cta::kWantedProgramsAttr); attr && !wanted)
      wanted = int32_t(attr.getInt());
    module->removeAttr(cta::kWantedProgramsAttr);
    if (wanted < 2 || !llvm::hasSingleElement(module.getOps<func::FuncOp>()))
      return;
    func::FuncOp kernel = *module.getOps<func::FuncOp>().begin();
    std::optional<Reason> why = obstacle(kernel, wanted);
    if (!why)
      why = share(module, wanted);
    LDBG() << (why ? refusalOf(*why).why : "rings are shared");
    if (why)
      refuse(kernel, *why);
    else
      ++kernelsShared;
  }

private:
  static std::optional<Reason> obstacle(func::FuncOp kernel, int32_t wanted) {
    int32_t warps = kernelOf(kernel).getWarps();
    if (warps * 32 != int32_t(kWarpgroupThreads))
      return Reason::ShareNotWarpgroup;
    unsigned threads = unsigned(wanted) * 32 * unsigned(warps);
    if (threads + cta::producerThreads(threads) > kMaxThreads || kernelOf(kernel).getCtas() > 1 ||
        obstacleToRoles(kernel))
      return Reason::ShareNeedsRoles;
    return std::nullopt;
  }

  /// Along an axis of the grid, or of what it counts.
  static std::optional<Reason> share(ModuleOp module, int32_t wanted) {
    std::optional<Reason> why = shareAlongAxis(*module.getOps<func::FuncOp>().begin(), wanted);
    OwningOpRef<ModuleOp> other;
    for (func::FuncOp kernel = *module.getOps<func::FuncOp>().begin(); why;) {
      std::optional<SplitAxis> split = findSplitAxis(kernel);
      if (!split)
        return why;
      if (!other) { // the kernel stays as it is if that is of no use
        other = module.clone();
        kernel = *other->getOps<func::FuncOp>().begin();
        split = findSplitAxis(kernel);
      }
      splitGrid(kernel, *split);
      if (shareAlongAxis(kernel, wanted))
        continue;
      module->setDiscardableAttrs(other->getOperation()->getDiscardableAttrDictionary());
      module.getBodyRegion().takeBody(other->getBodyRegion());
      return std::nullopt;
    }
    return why;
  }

  static std::optional<Reason> shareAlongAxis(func::FuncOp kernel, int32_t wanted) {
    std::optional<Reason> why;
    for (int32_t axis = 0; axis < 3; ++axis) {
      std::optional<Reason> obstacle = Sharing(kernel, axis).obstacle();
      if (!obstacle) {
        cta::setBlockPrograms(kernel, {axis, wanted});
        auto unit = UnitAttr::get(kernel.getContext());
        if (!hasUnequalLoops(kernel))
          kernel->getParentOp()->setAttr(cta::kEqualProgramsAttr, unit);
        else if (growAlong(kernel, axis))
          kernel->getParentOp()->setAttr(cta::kGrowingProgramsAttr, unit);
        return std::nullopt;
      }
      if (!why || why == Reason::ShareNothing)
        why = obstacle;
    }
    return why;
  }
};
} // namespace
