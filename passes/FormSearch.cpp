//===- FormSearch.cpp - when a kernel is laid out once more ---------------===//
#include "passes/FormSearch.h"
#include "ir/Attributes.h"
#include "passes/facts/FormFacts.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "passes/layouts/ProductCycles.h"
#include "target/Tuning.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-fit-shared-memory"
ALWAYS_ENABLED_STATISTIC(formsTried, "forms of kernels that were laid out");

/// What was asked for, but that all warps share every block.
KernelAttr tile::cooperative(KernelAttr wanted) {
  return KernelAttr::get(wanted.getContext(), wanted.getWarps(), wanted.getStages(),
                         wanted.getCtas(), WarpRoles::Cooperative);
}

KernelAttr tile::withStages(KernelAttr wanted, int32_t stages) {
  return KernelAttr::get(wanted.getContext(), wanted.getWarps(), stages, wanted.getCtas(),
                         wanted.getRoles());
}

/// The same kernel without warps that only copy.
KernelAttr tile::withoutRoles(KernelAttr wanted) {
  return KernelAttr::get(wanted.getContext(), wanted.getWarps(), wanted.getStages(),
                         wanted.getCtas(), WarpRoles::None);
}

static bool hasTensorStores(ModuleOp module) {
  return module.walk([](cta::TmaStoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Whether operands of loops over products come ahead of their turns.
static bool comesAhead(ModuleOp module) {
  return !module
              .walk([](cta::RingWaitOp wait) {
                auto ring = wait.getRing().getDefiningOp<cta::RingOp>();
                auto loop = wait->getParentOfType<scf::ForOp>();
                bool multiplies = loop && !loop.getBody()->getOps<cta::WarpgroupDotOp>().empty();
                bool isAlone = ring && multiplies && ring.getStages() < 2;
                return isAlone ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

namespace {
/// A smaller form of the kernel: what of it was asked for before, and one thing less.
struct Form {
  /// Whether it can help a kernel that became this.
  bool (*applies)(ModuleOp made, ModuleOp asked);
  /// Asks for it.
  void (*ask)(ModuleOp);
  /// What a user may have wanted and does not get.
  std::optional<Reason> lost;
  /// Whether what fits is worth it, and what asks for it no more, if that is not always so.
  bool (*isWorth)(ModuleOp made) = nullptr;
  void (*takeBack)(ModuleOp) = nullptr;
};

/// In the order of what is lost: turns of two groups, a stage at a time, results by TMA, warpgroup
/// products. The last is asked for with all the stages there were: others copy then.
constexpr Form smallerForms[] = {
    {[](ModuleOp made, ModuleOp) { return cta::groupsOf(made) > 1; },
     [](ModuleOp m) { m->setAttr(tile::kKernelAttr, cooperative(kernelOf(m))); },
     Reason::FitsNoTurns},
    {[](ModuleOp, ModuleOp asked) { return kernelOf(asked).getStages() > 2; },
     [](ModuleOp m) {
       m->setAttr(tile::kKernelAttr, withStages(kernelOf(m), kernelOf(m).getStages() - 1));
     },
     std::nullopt},
    {[](ModuleOp made, ModuleOp asked) {
       return !asked->hasAttr(kNoTensorStoresAttr) && hasTensorStores(made);
     },
     [](ModuleOp m) { m->setAttr(kNoTensorStoresAttr, UnitAttr::get(m.getContext())); },
     std::nullopt, comesAhead, [](ModuleOp m) { m->removeAttr(kNoTensorStoresAttr); }},
    {[](ModuleOp, ModuleOp asked) { return !asked->hasAttr(kNoWarpgroupDotsAttr); },
     [](ModuleOp m) { m->setAttr(kNoWarpgroupDotsAttr, UnitAttr::get(m.getContext())); },
     Reason::FitsNoWarpgroups},
};
} // namespace

LogicalResult FormSearch::make(OwningOpRef<ModuleOp> &before, Made &made) {
  made = {kernelOf(module), {}, {}};
  if (failed(attempt(made.remarks)))
    return failure();
  for (const Form &form : smallerForms)
    while (before && !fits() && form.applies(module, *before)) {
      if (&form == std::end(smallerForms) - 1)
        (*before)->setAttr(tile::kKernelAttr, made.wanted);
      form.ask(*before);
      restore(*before);
      if (failed(attempt(made.remarks)))
        return failure();
      if (form.lost)
        made.lost.insert(*form.lost);
      if (!form.isWorth || (fits() && form.isWorth(module)))
        continue;
      form.takeBack(*before);
      restore(*before);
      if (failed(attempt(made.remarks)))
        return failure();
      break;
    }
  if (!before || !fits())
    return success();
  bool isShared = made.wanted.getRoles() == WarpRoles::Shared;
  if (isShared && failed(choosePrograms(*before, made)))
    return failure();
  if (cta::blockProgramsOf(module).count > 1)
    return success();
  // Programs of a few warps hold little: they can do with a slot less, and keep all stages.
  bool isSmall = cta::threadsOf(module) < kWarpgroupThreads;
  auto choosePipeline = [&]() -> LogicalResult {
    if (isSmall && failed(chooseSlots(*before, made)))
      return failure();
    bool isChosen = (*before)->hasAttr(kTightSlotsAttr) || (*before)->hasAttr(kRefilledSlotsAttr);
    if (!isChosen && failed(chooseStages(*before, made)))
      return failure();
    return isSmall ? success() : chooseSlots(*before, made);
  };
  if (failed(chooseExchanges(*before, made.remarks)) ||
      failed(chooseRoles(*before, made.remarks)) || failed(choosePipeline()) ||
      failed(chooseWarps(*before, made)) || (!isShared && failed(choosePrograms(*before, made))))
    return failure();
  if (cta::blockProgramsOf(module).count > 1 && module->hasAttr(kFewProgramsAttr)) {
    // The form that a launcher would have to take instead.
    (*before)->setAttr(tile::kKernelAttr, withoutRoles(made.wanted));
    restore(*before);
    return make(before, made);
  }
  relyOnRoles();
  keepTwoPrograms();
  return success();
}

void FormSearch::relyOnRoles() {
  unsigned threads = cta::threadsOf(module);
  if (hasRoles(module) && threads == unsigned(kWarpgroupThreads) &&
      !registersOfRoles(targetOf(module), threads).areDealt &&
      !module->hasAttr(cta::kProgramsTogetherAttr))
    relyOn(std::min(warpgroupsWithRoles(module), tuningOf(module).enoughWarpgroups));
}

void FormSearch::keepTwoPrograms() {
  constexpr unsigned kThreads = 2 * unsigned(kWarpgroupThreads);
  if (!hasRoles(module) && cta::threadsOf(module) == kThreads && multipliesInLoops(module) &&
      !module->hasAttr(cta::kProgramsTogetherAttr) &&
      programsAtOnce(module, blocksOf(module, registersDuringProducts),
                     cta::madeOf(module).sharedBytes, kThreads) == 2)
    relyOn(2);
}

LogicalResult FormSearch::copyAhead(OwningOpRef<ModuleOp> &before, Made &made) {
  if (made.wanted.getStages() != 1 || !fits() || !multipliesInLoops(module) || turnFewTimes(module))
    return success();
  int64_t now = std::min(warpgroupsNow(module), tuningOf(module).enoughWarpgroups);
  if (hasFewPrograms(module))
    now = 0;
  OwningOpRef<ModuleOp> asked = module.clone();
  (*before)->setAttr(tile::kKernelAttr, withStages(made.wanted, kDefaultStages));
  (*before)->removeAttr(kNoWarpgroupDotsAttr);
  restore(*before);
  Made deeper;
  if (failed(make(before, deeper)))
    return failure();
  if (fits() && multipliesInLoops(module) && 2 * warpgroupsNow(module) >= now) {
    made = std::move(deeper);
    return success();
  }
  bool wouldFit = fits() && multipliesInLoops(module);
  restore(*asked);
  if (wouldFit)
    fewGain(1);
  return success();
}

LogicalResult FormSearch::spread(ModuleOp asked, OwningOpRef<ModuleOp> &before, Made &made) {
  auto blocks = [&] {
    return std::max(blocksOf(module, registersDuringWarpProducts),
                    blocksOf(module, [](func::FuncOp kernel) {
                      return registersOfBlocksDuringProducts(kernel, 0);
                    }));
  };
  auto resident = [&] {
    return programsAtOnce(module, blocks(), cta::madeOf(module).sharedBytes,
                          cta::threadsOf(module)) *
           int64_t(cta::threadsOf(module) / kLanes);
  };
  for (int32_t warps = 2 * made.wanted.getWarps(); warps <= 2 * kWarpsOfWarpgroup; warps *= 2) {
    if (kernelOf(module).getWarps() >= warps)
      continue;
    int64_t held = blocks();
    LDBG() << held << " registers of blocks with " << warps / 2 << " warps";
    if (held <= kMaxRegisters || held * (warps / 2) > kMaxRegisters * 2 * kWarpsOfWarpgroup)
      break; // none is short, or all that there may be would be
    OwningOpRef<ModuleOp> few = module.clone();
    // What is in memory is written and read again, at least once, by half of these warps.
    int64_t spilled = held - kMaxRegisters, now = resident();
    ProductCycles products = cyclesOfProducts(module);
    products.byWarps += double(spilled) * warps * tuningOf(module).unknownTurns;
    asked->setAttr(tile::kKernelAttr,
                   KernelAttr::get(module.getContext(), warps, kernelOf(asked).getStages(),
                                   kernelOf(asked).getCtas(), kernelOf(asked).getRoles()));
    if (before)
      before = asked.clone();
    restore(asked);
    Made more;
    if (failed(make(before, more)))
      return failure();
    int64_t copies = 2 * blocks() - held;
    LDBG() << now << " warps at once become " << resident() << ", " << copies
           << " registers copies";
    if (!fits() || copies > spilled || double(resident()) * partOfUse(products) < double(now)) {
      restore(*few);
      break;
    }
    made = std::move(more);
  }
  return success();
}

void FormSearch::relyOn(int64_t programs) {
  if (programs < 2)
    return;
  module->setAttr(cta::kProgramsTogetherAttr,
                  IntegerAttr::get(IntegerType::get(module.getContext(), 32), programs));
}

void FormSearch::moreAtOnce(int64_t apart, int64_t together) {
  // Where programs run unequally long, those of a grid that is at once on its multiprocessors stay
  // where they began: none is left for a multiprocessor that is done sooner.
  fewGain(module->hasAttr(cta::kFromEndAttr) ? together : apart);
}

void FormSearch::fewGain(int64_t programs) {
  auto known = module->getAttrOfType<IntegerAttr>(kGainsAheadAttr);
  if (!known || known.getInt() < programs)
    module->setAttr(kGainsAheadAttr,
                    IntegerAttr::get(IntegerType::get(module.getContext(), 32), programs));
}

bool FormSearch::fits() const {
  return cta::madeOf(module).sharedBytes <= targetOf(module).maxSharedBytes;
}

LogicalResult FormSearch::attempt(std::vector<Diagnostic> &remarks) {
  remarks.clear();
  ++formsTried;
  LDBG() << "a form of " << kernelOf(module);
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error)
      return failure();
    remarks.push_back(std::move(d));
    return success();
  });
  return run(module);
}

void FormSearch::restore(ModuleOp before) {
  module->setDiscardableAttrs(before->getDiscardableAttrDictionary());
  OwningOpRef<ModuleOp> copy = before.clone();
  module.getBodyRegion().takeBody(copy->getBodyRegion());
}
