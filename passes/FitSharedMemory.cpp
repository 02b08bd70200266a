//===- FitSharedMemory.cpp - the form of a kernel that fits a thread block ===//
//
// Contract and example: FitSharedMemoryPass in passes/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/facts/FormFacts.h"
#include "passes/facts/MoreWarps.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "passes/memory/Scratch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include <utility>

namespace tile {
#define GEN_PASS_DEF_FITSHAREDMEMORYPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-fit-shared-memory"
ALWAYS_ENABLED_STATISTIC(formsTried, "forms of kernels that were laid out");

static constexpr int32_t kWarpsOfWarpgroup = int32_t(kWarpgroupThreads) / 32;

/// What was asked for, but that all warps share every block.
static KernelAttr cooperative(KernelAttr wanted) {
  return KernelAttr::get(wanted.getContext(), wanted.getWarps(), wanted.getStages(),
                         wanted.getCtas(), WarpRoles::Cooperative);
}

static KernelAttr withStages(KernelAttr wanted, int32_t stages) {
  return KernelAttr::get(wanted.getContext(), wanted.getWarps(), stages, wanted.getCtas(),
                         wanted.getRoles());
}

/// The same kernel without warps that only copy.
static KernelAttr withoutRoles(KernelAttr wanted) {
  return KernelAttr::get(wanted.getContext(), wanted.getWarps(), wanted.getStages(),
                         wanted.getCtas(), WarpRoles::None);
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
};

/// In the order of what is lost: turns of two groups, a stage at a time, warpgroup products.
/// The last is asked for with all the stages there were: others copy then.
constexpr Form smallerForms[] = {
    {[](ModuleOp made, ModuleOp) { return cta::groupsOf(made) > 1; },
     [](ModuleOp m) { m->setAttr(tile::kKernelAttr, cooperative(kernelOf(m))); },
     Reason::FitsNoTurns},
    {[](ModuleOp, ModuleOp asked) { return kernelOf(asked).getStages() > 2; },
     [](ModuleOp m) {
       m->setAttr(tile::kKernelAttr, withStages(kernelOf(m), kernelOf(m).getStages() - 1));
     },
     std::nullopt},
    {[](ModuleOp, ModuleOp asked) { return !asked->hasAttr(kNoWarpgroupDotsAttr); },
     [](ModuleOp m) { m->setAttr(kNoWarpgroupDotsAttr, UnitAttr::get(m.getContext())); },
     Reason::FitsNoWarpgroups},
};

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
    if (smaller && hasProducts && isFree(kernelOf(module).getRoles()) &&
        kernelOf(module).getCtas() <= 1 && mayBeCrowded(kernelOf(module).getWarps()))
      asked = module.clone();
    Made made;
    if (failed(make(before, made)) || (before && failed(copyAhead(before, made))) ||
        (asked && failed(spread(*asked, before, made))))
      return signalPassFailure();
    for (Diagnostic &remark : made.remarks)
      getContext().getDiagEngine().emit(std::move(remark));
    for (Reason reason : made.lost)
      if (isOfInterest(reason, made.wanted.getRoles()))
        refuse(*module.getOps<func::FuncOp>().begin(), reason);
  }

private:
  /// What is told of a form.
  struct Made {
    KernelAttr wanted;
    std::vector<Diagnostic> remarks;
    llvm::SmallSetVector<Reason, 2> lost;
  };

  /// Whether it was asked for what is not made for that reason.
  static bool isOfInterest(Reason reason, WarpRoles roles) {
    if (reason == Reason::FitsNoTurns)
      return roles == WarpRoles::PingPong;
    return reason == Reason::FitsNoWarpgroups || roles == WarpRoles::Shared;
  }

  /// The best form of what is asked for in the module, which is `before`, or null where there is
  /// only one.
  LogicalResult make(OwningOpRef<ModuleOp> &before, Made &made) {
    ModuleOp module = getOperation();
    made = {kernelOf(module), {}, {}};
    if (failed(attempt(made.remarks)))
      return failure();
    for (const Form &form : smallerForms)
      while (before && !fits(module) && form.applies(module, *before)) {
        if (&form == std::end(smallerForms) - 1)
          (*before)->setAttr(tile::kKernelAttr, made.wanted);
        form.ask(*before);
        restore(*before);
        if (failed(attempt(made.remarks)))
          return failure();
        if (form.lost)
          made.lost.insert(*form.lost);
      }
    if (!before || !fits(module))
      return success();
    bool isShared = made.wanted.getRoles() == WarpRoles::Shared;
    if (isShared && failed(choosePrograms(*before, made)))
      return failure();
    if (cta::blockProgramsOf(module).count > 1)
      return success();
    if (failed(chooseRoles(*before, made.remarks)) ||
        failed(chooseWarps(*before, made.wanted, made.remarks)) ||
        failed(chooseStages(*before, made)) || (!isShared && failed(choosePrograms(*before, made))))
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

  /// One warpgroup that computes beside a warp that copies starts with the registers it has: the
  /// assembler, that takes what it can for one program, is told of how many there are.
  void relyOnRoles() {
    ModuleOp module = getOperation();
    unsigned threads = cta::threadsOf(module);
    bool hasRoles =
        module.walk([](cta::RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (hasRoles && threads == unsigned(kWarpgroupThreads) &&
        !registersOfRoles(targetOf(module), threads).areDealt &&
        !module->hasAttr(cta::kProgramsTogetherAttr))
      relyOn(std::min<int64_t>(warpgroupsWithRoles(module), 2));
  }

  /// Two warpgroups that meet in each turn run in step, and wait for their products together: one
  /// program's arithmetic runs under the products of another, if there are two. The assembler, that
  /// does not know it, takes a few registers more than they leave.
  void keepTwoPrograms() {
    ModuleOp module = getOperation();
    constexpr unsigned kThreads = 2 * unsigned(kWarpgroupThreads);
    bool hasRoles =
        module.walk([](cta::RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!hasRoles && cta::threadsOf(module) == kThreads && multipliesInLoops(module) &&
        !module->hasAttr(cta::kProgramsTogetherAttr) &&
        programsAtOnce(module, blocksOf(module, registersDuringProducts),
                       cta::madeOf(module).sharedBytes, kThreads) == 2)
      relyOn(2);
  }

  /// One stage means that each turn of a loop over products waits for its own operands, as a
  /// author does well to ask where more stages cost registers. Here they cost shared memory:
  /// with as many as there are by default where the products of no more than half of the
  /// warpgroups go.
  LogicalResult copyAhead(OwningOpRef<ModuleOp> &before, Made &made) {
    ModuleOp module = getOperation();
    if (made.wanted.getStages() != 1 || !fits(module) || !multipliesInLoops(module) ||
        turnFewTimes(module))
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
    if (fits(module) && multipliesInLoops(module) && 2 * warpgroupsNow(module) >= now) {
      made = std::move(deeper);
      return success();
    }
    bool wouldFit = fits(module) && multipliesInLoops(module);
    restore(*asked);
    if (wouldFit)
      fewGain(1);
    return success();
  }

  /// Blocks that threads copy ahead take shared memory for each stage. Fewer stages than were asked
  /// for where that lets more warpgroups in, up to as many as are enough: what is in flight is the
  /// same for more programs with shallow pipelines. Rings count programs themselves (RingStages).
  LogicalResult chooseStages(ModuleOp before, Made &made) {
    ModuleOp module = getOperation();
    KernelAttr form = kernelOf(before);
    const Tuning &tuning = tuningOf(module);
    int64_t now = warpgroupsNow(module), enough = tuning.enoughWarpgroups;
    if (hasFewPrograms(module) || !isFree(made.wanted.getRoles()) || made.wanted.getCtas() > 1 ||
        !copiesByThreads(module) || form.getStages() <= kFewestAhead || now >= enough ||
        now >= warpgroupsAtOnce(module, heldBlocks(module), 0))
      return success(); // it is not for shared memory that there are no more
    OwningOpRef<ModuleOp> asked = module.clone();
    std::vector<Diagnostic> said;
    int64_t most = now, programs = now / int64_t(cta::threadsOf(module) / kWarpgroupThreads);
    double wanted = double(now * (form.getStages() - 1)) *
                    (programs == 1 ? tuning.keptInFlightOfOne : tuning.keptInFlight);
    auto attemptWith = [&](int32_t stages) -> LogicalResult {
      before->setAttr(tile::kKernelAttr, withoutRoles(withStages(form, stages)));
      restore(before);
      return attempt(said);
    };
    for (int32_t stages = kFewestAhead; stages < form.getStages(); ++stages) {
      if (failed(attemptWith(stages)))
        return failure();
      int64_t became = fits(module) && multipliesInLoops(module) ? warpgroupsNow(module) : 0;
      if (became <= now || became < most)
        break;
      if (double(became * (stages - 1)) < wanted)
        continue;
      most = became;
      asked = module.clone();
      made.remarks = std::exchange(said, {});
    }
    before->setAttr(tile::kKernelAttr, form);
    restore(*asked);
    if (most > now)
      fewGain(programs);
    return success();
  }

  /// Of a launch with no more than so many programs for each multiprocessor none waits for room:
  /// the deeper form is the faster one.
  void fewGain(int64_t programs) {
    ModuleOp module = getOperation();
    auto known = module->getAttrOfType<IntegerAttr>(kGainsAheadAttr);
    if (!known || known.getInt() < programs)
      module->setAttr(kGainsAheadAttr,
                      IntegerAttr::get(IntegerType::get(&getContext(), 32), programs));
  }

  /// Whether so few warps may be too few for the blocks. A warpgroup with tall ones has looked for
  /// another already.
  static bool mayBeCrowded(int32_t warps) { return warps <= kWarpsOfWarpgroup; }

  /// Warps that would have more in blocks alone than their threads have registers would keep the
  /// rest in memory. Twice as many hold half of it each, where no fewer of them are on a
  /// multiprocessor at once, and where what several of them hold is less than what would be in
  /// memory.
  LogicalResult spread(ModuleOp asked, OwningOpRef<ModuleOp> &before, Made &made) {
    ModuleOp module = getOperation();
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
      int64_t now = resident();
      asked->setAttr(tile::kKernelAttr,
                     KernelAttr::get(&getContext(), warps, kernelOf(asked).getStages(),
                                     kernelOf(asked).getCtas(), kernelOf(asked).getRoles()));
      if (before)
        before = asked.clone();
      restore(asked);
      Made more;
      if (failed(make(before, more)))
        return failure();
      int64_t copies = 2 * blocks() - held, spilled = held - kMaxRegisters;
      LDBG() << now << " warps at once become " << resident() << ", " << copies
             << " registers copies";
      if (!fits(module) || copies > spilled || resident() < now) {
        restore(*few);
        break;
      }
      made = std::move(more);
    }
    return success();
  }

  /// Warpgroups of all programs from which on more do not help: one for each tensor core, and
  /// more where arithmetic stands between products that are over long before it.
  int64_t warpgroupsWanted() {
    ModuleOp module = getOperation();
    return chainsProducts(module) ? blocksOf(module, enoughWarpgroups)
                                  : tuningOf(module).enoughWarpgroups;
  }

  /// Warps that only copy take registers from those that compute: fewer programs fit a
  /// multiprocessor, and it is the warpgroups of all of them together that keep its tensor
  /// cores busy. Without them where that leaves more warpgroups, up to as many as are enough.
  LogicalResult chooseRoles(ModuleOp before, std::vector<Diagnostic> &remarks) {
    ModuleOp module = getOperation();
    bool hasRoles =
        module.walk([](cta::RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
    KernelAttr wanted = kernelOf(before);
    if (!hasRoles || !isFree(wanted.getRoles()) || wanted.getCtas() > 1 ||
        needsResultsInTurn(module))
      return success();
    int64_t enough = warpgroupsWanted(), bytes = 0;
    int64_t with = warpgroupsWithRoles(module);
    // Rings and a warp more that programs wait for which have nothing to do, or that are done
    // before those that compute have begun.
    bool missLoops = ringsMissLoops(module), overlapped = overlaps(module);
    int64_t copied = bytesOfSlots(module);
    bool isForNothing = !hasScores(module) && (cta::threadsOf(module) == kWarpgroupThreads
                                                   ? mayLeaveEarly(module)
                                                   : mayLeaveForWhatIsLoaded(module));
    module.walk([&](cta::RingOp ring) {
      int32_t stages = ring.getStages();
      for (Operation *user : ring->getUsers())
        if (auto loop = user->getParentOfType<scf::ForOp>(); loop && isa<cta::RingWaitOp>(user))
          stages = ring.getElastic() ? stages : fewestStages(loop, stages, with);
      bytes += lowering::ringBytes(ring.getType(), stages);
    });
    if (!isForNothing && !missLoops &&
        (with >= enough ||
         with >= warpgroupsAtOnce(module, blocksOf(module, registersOfLargestProduct), bytes)))
      return success();
    before->setAttr(tile::kKernelAttr, withoutRoles(wanted));
    restore(before);
    if (failed(attempt(remarks)))
      return failure();
    // Products in flight, or more copied ahead, are worth what the threads do for the few copies.
    bool gains = missLoops && (overlaps(module) || (bytesOfSlots(module) > copied && !overlapped));
    bool areMore =
        warpgroupsAtOnce(module, heldBlocks(module), cta::madeOf(module).sharedBytes) > with;
    if (fits(module) && (isForNothing || gains || areMore))
      return success();
    before->setAttr(tile::kKernelAttr, wanted);
    restore(before);
    return attempt(remarks);
  }

  /// Of copies that the threads start themselves.
  static int64_t bytesOfSlots(ModuleOp module) {
    int64_t bytes = 0;
    module.walk([&](cta::SlotsOp slots) { bytes += lowering::bufferBytes(slots); });
    return bytes;
  }

  /// What four warps hold of tall blocks, eight hold in half the registers each: where those keep
  /// other programs away, twice the warps are more warpgroups on a multiprocessor. Each multiplies
  /// the rows of one instruction then, and reads of the right operand as much as before. As many
  /// warpgroups are better, too, if their products can run under arithmetic only then, or if four
  /// warps would have too much in registers. Where arithmetic takes longer than products, programs
  /// that do not wait for each other hide more of it than warpgroups of one program do.
  LogicalResult chooseWarps(ModuleOp before, KernelAttr asked, std::vector<Diagnostic> &remarks) {
    ModuleOp module = getOperation();
    bool isTall = true, hasProducts = false;
    module.walk([&](cta::WarpgroupDotOp product) {
      hasProducts = true;
      isTall &= hasRowsForTwoWarpgroups(product.getType());
    });
    if (!hasProducts || !isTall || !mayGetTwoWarpgroups(asked))
      return success();
    int64_t now = warpgroupsNow(module);
    int64_t blocks = blocksOf(module, registersDuringProducts);
    int64_t then = 2 * programsAtOnce(module, blocks / 2, cta::madeOf(module).sharedBytes,
                                      2 * unsigned(kWarpgroupThreads));
    bool overlapsNow = overlaps(module);
    // As many, too, where blocks leave no registers for indices and addresses in four.
    const Tuning &tuning = tuningOf(module);
    bool isLong = productsOfScore(module) < tuning.productsOfScore;
    bool isTight = blocks + kRegistersBesideAccumulator >
                   (isLong ? kMaxRegisters : tuning.mostRegistersOfWarpgroup);
    if (now >= tuning.enoughWarpgroups || then < now + (overlapsNow && !isTight))
      return success();
    if (mayLeaveEarly(module) && !hasScores(module) && !isTight)
      return success();
    KernelAttr form = kernelOf(before);
    before->setAttr(tile::kKernelAttr,
                    KernelAttr::get(asked.getContext(), 2 * asked.getWarps(), asked.getStages(),
                                    asked.getCtas(), asked.getRoles()));
    restore(before);
    if (failed(attempt(remarks)))
      return failure();
    if (fits(module) && failed(chooseRoles(before, remarks)))
      return failure();
    bool isBetter = isTight || (overlaps(module) && !overlapsNow && !isLong);
    int64_t became = fits(module) ? warpgroupsNow(module) : 0;
    bool areMore = isLong ? 3 * became > 4 * now : became > now;
    if (became > 0 && (areMore || (isBetter && became == now))) {
      if (became > now)
        relyOn(now / 2 + 1);
      return success();
    }
    before->setAttr(tile::kKernelAttr, form);
    restore(before);
    return attempt(remarks);
  }

  /// Programs of one warpgroup each that share a thread block share what they copy, and the
  /// registers that its producer does not need: where no fewer of them compute on a multiprocessor
  /// so than in thread blocks of their own, as many as registers and shared memory have room for.
  /// Only for launchers of ours, if it is not asked for: others count programs as thread blocks,
  /// and these have another form for small grids.
  LogicalResult choosePrograms(ModuleOp before, Made &made) {
    ModuleOp module = getOperation();
    KernelAttr form = kernelOf(before), asked = made.wanted;
    bool isWished = asked.getRoles() == WarpRoles::Shared;
    bool isOurs = module->hasAttr(kCheckedLaunchAttr) && module->hasAttr(kPersistentAttr);
    if (!isWished && (asked.getRoles() != WarpRoles::Auto || asked.getCtas() > 1 || !isOurs ||
                      !multipliesInLoops(module) || form.getWarps() != kWarpsOfWarpgroup))
      return success();
    const Tuning &tuning = tuningOf(module);
    int64_t enough = warpgroupsWanted();
    // Two that share go in step, and two apart do not, as they should where arithmetic is long.
    int64_t now = std::min(warpgroupsNow(module), enough);
    bool isLong = productsOfScore(module) < tuning.productsOfScore;
    int64_t fewest = isWished ? 2 : std::max<int64_t>(now, isLong && now > 1 ? 3 : 2);
    Reason why = Reason::FitsNoPrograms;
    auto wanted = [&] {
      int64_t beside = registersOfEarlyResults(module) ? tuning.registersBesideEarlyProducts
                                                       : tuning.registersBesideChain;
      return beside + blocksOf(module, [](func::FuncOp kernel) {
               return registersOfBlocksDuringProducts(kernel,
                                                      tuningOf(kernel).deferredLeastRegisters + 1);
             });
    };
    int64_t least = wanted() - registersOfEarlyResults(module);
    OwningOpRef<ModuleOp> alone = module.clone();
    for (int64_t programs = tuning.enoughWarpgroups; programs >= fewest; --programs) {
      unsigned threads = unsigned(programs * kWarpgroupThreads);
      int64_t dealt = registersOfRoles(targetOf(module), threads).consumers;
      if (least > dealt)
        continue;
      before->setAttr(tile::kKernelAttr, asked);
      before->setAttr(cta::kWantedProgramsAttr,
                      IntegerAttr::get(IntegerType::get(&getContext(), 32), programs));
      restore(before);
      before->removeAttr(cta::kWantedProgramsAttr);
      std::vector<Diagnostic> said;
      if (failed(attempt(said)))
        return failure();
      if (cta::blockProgramsOf(module).count == 1) {
        why = whyApart(said).value_or(why);
        break;
      }
      if (fits(module) && wanted() <= dealt) {
        made.remarks = std::move(said);
        return success();
      }
    }
    made.lost.insert(why);
    before->setAttr(tile::kKernelAttr, form);
    restore(*alone);
    return success();
  }

  /// What tile-share-rings has said.
  static std::optional<Reason> whyApart(std::vector<Diagnostic> &said) {
    for (Diagnostic &remark : said)
      if (std::optional<Reason> why = readRefusal(remark);
          why && refusalOf(*why).pass == "tile-share-rings")
        return why;
    return std::nullopt;
  }

  /// Two warpgroups a program are more than there were only if so many programs share a
  /// multiprocessor: the assembler, which does not know, takes more registers than that leaves
  /// where it can.
  void relyOn(int64_t programs) {
    ModuleOp module = getOperation();
    if (programs < 2)
      return;
    module->setAttr(cta::kProgramsTogetherAttr,
                    IntegerAttr::get(IntegerType::get(&getContext(), 32), programs));
  }

  static bool fits(ModuleOp module) {
    return cta::madeOf(module).sharedBytes <= targetOf(module).maxSharedBytes;
  }

  /// Runs the steps; what they remark replaces what is in `remarks`, errors go on.
  LogicalResult attempt(std::vector<Diagnostic> &remarks) {
    remarks.clear();
    ++formsTried;
    LDBG() << "a form of " << kernelOf(getOperation());
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &d) {
      if (d.getSeverity() == DiagnosticSeverity::Error)
        return failure();
      remarks.push_back(std::move(d));
      return success();
    });
    return runPipeline(pipeline, getOperation());
  }

  void restore(ModuleOp before) {
    ModuleOp module = getOperation();
    module->setDiscardableAttrs(before->getDiscardableAttrDictionary());
    OwningOpRef<ModuleOp> copy = before.clone();
    module.getBodyRegion().takeBody(copy->getBodyRegion());
  }

  OpPassManager pipeline;
};
} // namespace
