//===- FormChoices.cpp - which of two forms of a kernel stays -------------===//
#include "ir/Attributes.h"
#include "passes/FormSearch.h"
#include "passes/facts/FormFacts.h"
#include "passes/facts/MoreWarps.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "passes/layouts/ProductCycles.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"
#include "llvm/Support/DebugLog.h"
#include <utility>

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-fit-shared-memory"

LogicalResult FormSearch::chooseStages(ModuleOp before, Made &made) {
  KernelAttr form = kernelOf(before);
  const Tuning &tuning = tuningOf(module);
  int64_t now = warpsNow(module), enough = tuning.enoughWarpgroups * kWarpsOfWarpgroup;
  if (hasFewPrograms(module) || !isFree(made.wanted.getRoles()) || made.wanted.getCtas() > 1 ||
      !copiesByThreads(module) || form.getStages() <= kFewestAhead || now >= enough ||
      now >= warpsAtOnce(module, heldBlocks(module), 0))
    return success(); // it is not for shared memory that there are no more
  OwningOpRef<ModuleOp> asked = module.clone();
  std::vector<Diagnostic> said;
  int64_t most = now, programs = now / int64_t(cta::threadsOf(module) / kLanes);
  bool byWarpgroups = multipliesInLoops(module);
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
    int64_t became = fits() && multipliesInLoops(module) == byWarpgroups ? warpsNow(module) : 0;
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
    moreAtOnce(programs, programs * most / now);
  return success();
}

/// One slot of each of the copies by threads for which `counts` holds.
static int64_t bytesOfSlot(ModuleOp module, function_ref<bool(cta::SlotsOp)> counts) {
  int64_t bytes = 0;
  module.walk([&](cta::SlotsOp slots) {
    bytes += counts(slots) ? lowering::bufferBytes(slots) / slots.getCount() : 0;
  });
  return bytes;
}

/// Of copies that the threads start themselves.
static int64_t bytesOfSlots(ModuleOp module) {
  int64_t bytes = 0;
  module.walk([&](cta::SlotsOp slots) { bytes += lowering::bufferBytes(slots); });
  return bytes;
}

static bool isAnySlot(cta::SlotsOp) { return true; }

static bool hasSpare(cta::SlotsOp slots) {
  return llvm::any_of(slots->getUsers(), [](Operation *slot) {
    auto loop = slot->getParentOfType<scf::ForOp>();
    return loop && loop->hasAttr(cta::kSpareSlotAttr);
  });
}

/// Lays out what the module was made from once more, with a unit attribute that asks for another
/// form: it stays if `isBetter`.
LogicalResult FormSearch::tryWith(StringRef attribute, ModuleOp before, Made &made,
                                  function_ref<bool()> isBetter) {
  OwningOpRef<ModuleOp> whole = module.clone();
  std::vector<Diagnostic> said;
  before->setAttr(attribute, UnitAttr::get(module.getContext()));
  restore(before);
  if (failed(attempt(said)))
    return failure();
  if (fits() && isBetter()) {
    made.remarks = std::move(said);
    return success();
  }
  before->removeAttr(attribute);
  restore(*whole);
  return success();
}

LogicalResult FormSearch::chooseSlots(ModuleOp before, Made &made) {
  if (hasFewPrograms(module) || !copiesByThreads(module) || !isFree(made.wanted.getRoles()) ||
      made.wanted.getCtas() > 1)
    return success();
  // With fewer stages the form for few programs is another already, and there is no third.
  bool isFirst = kernelOf(module).getStages() == kernelOf(before).getStages();
  if (isFirst && failed(chooseSpares(before, made)))
    return failure();
  if (before->hasAttr(kNoSpareSlotsAttr))
    return success();
  if (isFirst && failed(chooseTight(before, made)))
    return failure();
  return before->hasAttr(kTightSlotsAttr) ? success() : chooseRefilled(before, made);
}

LogicalResult FormSearch::chooseRefilled(ModuleOp before, Made &made) {
  const Tuning &tuning = tuningOf(module);
  bool isFirst = kernelOf(module).getStages() == kernelOf(before).getStages();
  int64_t now = warpsNow(module), spared = bytesOfSlots(module) - bytesOfSlot(module, isAnySlot);
  double least = tuning.refilledLeastPrograms * double(now);
  int64_t bytes = cta::madeOf(module).sharedBytes - spared;
  if (hasRoles(module) || now == 0 || now >= tuning.enoughWarpgroups * kWarpsOfWarpgroup ||
      double(warpsAtOnce(module, heldBlocks(module), bytes)) < least)
    return success();
  return tryWith(kRefilledSlotsAttr, before, made, [&] {
    bool areMore = double(warpsNow(module)) >= least;
    int64_t warps = cta::threadsOf(module) / kLanes;
    if (areMore && isFirst)
      moreAtOnce(now / warps, warpsNow(module) / warps);
    return areMore;
  });
}

LogicalResult FormSearch::chooseSpares(ModuleOp before, Made &made) {
  int64_t now = warpgroupsNow(module), spared = bytesOfSlot(module, hasSpare);
  if (spared == 0 || now >= tuningOf(module).enoughWarpgroups ||
      warpgroupsWith(module, cta::madeOf(module).sharedBytes - spared) <= now)
    return success();
  return tryWith(kNoSpareSlotsAttr, before, made, [&] {
    int64_t became = warpgroupsNow(module), groups = cta::threadsOf(module) / kWarpgroupThreads;
    bool areMore = became > now;
    if (areMore)
      moreAtOnce(now / groups, became / groups);
    return areMore;
  });
}

/// What threads hold where they have read the slots that they fill again.
static int64_t registersBehindReads(ModuleOp module) {
  int64_t most = heldBlocks(module);
  module.walk([&](cta::BarrierOp barrier) {
    Operation *read = barrier->getPrevNode();
    if (read && read->hasAttr(cta::kHeldAttr))
      most = std::max(most, registersAcross(barrier));
  });
  return most;
}

LogicalResult FormSearch::chooseTight(ModuleOp before, Made &made) {
  const Tuning &tuning = tuningOf(module);
  unsigned threads = cta::threadsOf(module);
  auto programsWith = [&](int64_t bytes) {
    return programsAtOnce(module, registersBehindReads(module) + tuning.registersOfAddresses, bytes,
                          threads);
  };
  int64_t beside = tuning.registersOfAddresses + kRegistersBesideAccumulator;
  int64_t bytes = cta::madeOf(module).sharedBytes, now = programsWith(bytes);
  double least = tuning.tightLeastPrograms * double(now);
  if (hasRoles(module) || now * threads >= tuning.enoughWarpgroups * kWarpgroupThreads ||
      double(programsWith(bytes - bytesOfSlot(module, isAnySlot))) < least)
    return success();
  return tryWith(kTightSlotsAttr, before, made, [&] {
    int64_t became = programsWith(cta::madeOf(module).sharedBytes);
    bool areMore = double(became) >= least &&
                   registersBehindReads(module) + beside <= tuning.mostRegistersOfWarpgroup;
    if (areMore)
      moreAtOnce(now, became);
    return areMore;
  });
}

int64_t FormSearch::warpgroupsWanted() {
  return chainsProducts(module) ? blocksOf(module, enoughWarpgroups)
                                : tuningOf(module).enoughWarpgroups;
}

LogicalResult FormSearch::chooseExchanges(ModuleOp before, std::vector<Diagnostic> &remarks) {
  constexpr int64_t kFewestBytes = 4096;
  int64_t now = warpgroupsNow(module), largest = 0;
  module.walk(
      [&](cta::ConvertLayoutOp op) { largest = std::max(largest, lowering::scratchBytes(op)); });
  if (hasFewPrograms(module) || !isFree(kernelOf(before).getRoles()) ||
      kernelOf(before).getCtas() > 1 || !multipliesInLoops(module) ||
      now >= tuningOf(module).enoughWarpgroups)
    return success();
  OwningOpRef<ModuleOp> whole = module.clone();
  std::vector<Diagnostic> said;
  for (int64_t bytes = largest / 2; bytes >= kFewestBytes; bytes /= 2) {
    int64_t spared = (largest - bytes) * cta::groupsOf(*whole);
    if (warpgroupsWith(*whole, cta::madeOf(*whole).sharedBytes - spared) <= now)
      continue;
    before->setAttr(kExchangeBytesAttr, Builder(module.getContext()).getI32IntegerAttr(bytes));
    restore(before);
    if (failed(attempt(said)))
      return failure();
    if (fits() && warpgroupsNow(module) > now) {
      remarks = std::move(said);
      return success();
    }
  }
  before->removeAttr(kExchangeBytesAttr);
  restore(*whole);
  return success();
}

LogicalResult FormSearch::chooseRoles(ModuleOp before, std::vector<Diagnostic> &remarks) {
  KernelAttr wanted = kernelOf(before);
  if (!hasRoles(module) || !isFree(wanted.getRoles()) || wanted.getCtas() > 1 ||
      needsResultsInTurn(module))
    return success();
  int64_t enough = warpgroupsWanted();
  enough = std::min(enough, warpgroupsOfFewPrograms(module).value_or(enough));
  int64_t with = warpgroupsWithRolesAndCopies(module);
  // Rings and a warp more that programs wait for which have nothing to do, or that are done
  // before those that compute have begun.
  bool missLoops = ringsMissLoops(module), overlapped = overlaps(module);
  bool goesOn = ringsStandInLoops(module);
  int64_t copied = bytesOfSlots(module);
  bool isForNothing = !hasScores(module) && (cta::threadsOf(module) == kWarpgroupThreads
                                                 ? mayLeaveEarly(module)
                                                 : mayLeaveForWhatIsLoaded(module));
  // Programs that leave early are most often half of all. Where one has a multiprocessor for
  // itself, each that leaves is time in which nothing runs.
  int64_t ofProgram = int64_t(cta::threadsOf(module) / kWarpgroupThreads);
  bool leavesAlone = !hasScores(module) && with <= ofProgram && mayLeaveEarly(module);
  // Of loops that turn a few times all is copied before the first product. What a deeper ring has
  // is for the next program of the thread block, and others on the multiprocessor would be at work
  // now.
  int32_t most = turnFewTimes(module) ? std::max(wanted.getStages(), kFewestAhead) : INT32_MAX;
  SmallVector<cta::RingOp> rings;
  module.walk([&](cta::RingOp ring) { rings.push_back(ring); });
  int64_t bytes = lowering::bytesOfRings(rings, [&](cta::RingOp ring) {
    int32_t stages = std::min<int32_t>(ring.getStages(), most);
    for (Operation *user : ring->getUsers())
      if (auto loop = user->getParentOfType<scf::ForOp>(); loop && isa<cta::RingWaitOp>(user))
        stages = ring.getElastic() ? stages : fewestStages(loop, stages, with);
    return stages;
  });
  // What threads that compute hold of scores beside results goes to memory and back, less of it if
  // no warp has the registers of a copier.
  int64_t dealt = registersOfRoles(targetOf(module), cta::threadsOf(module)).consumers;
  bool isCrowded = multipliesScores(module) && heldBlocks(module) > dealt;
  bool isStraight = !goesOn && !multipliesInLoops(module);
  if (!isForNothing && !leavesAlone && !missLoops && !isCrowded && !isStraight &&
      (with >= enough ||
       with >= warpgroupsAtOnce(module, blocksOf(module, registersOfLargestProduct), bytes)))
    return success();
  before->setAttr(tile::kKernelAttr, withoutRoles(wanted));
  restore(before);
  if (failed(attempt(remarks)))
    return failure();
  // Products in flight, or more copied ahead, are worth what the threads do for the few copies.
  bool gains = missLoops && (overlaps(module) || (bytesOfSlots(module) > copied && !overlapped));
  int64_t without = warpgroupsAtOnce(module, heldBlocks(module), cta::madeOf(module).sharedBytes);
  // A warp that is done before the loops has only taken registers. One that goes on to the next
  // block of the result has not.
  bool isIdle = missLoops && !goesOn && without >= with && bytesOfSlots(module) >= copied &&
                overlaps(module) >= overlapped;
  bool areAsMany = (isCrowded || isStraight) && without >= with;
  if (fits() && (isForNothing || gains || isIdle || areAsMany || without > with))
    return success();
  before->setAttr(tile::kKernelAttr, wanted);
  restore(before);
  return attempt(remarks);
}

double FormSearch::partOfUse(const ProductCycles &few) {
  ProductCycles now = cyclesOfProducts(module);
  LDBG() << "products by warps take " << few.byWarps << " cycles, then " << now.byWarps;
  return now.partOfUse(few);
}

LogicalResult FormSearch::chooseWarps(ModuleOp before, Made &made) {
  KernelAttr asked = made.wanted;
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
  bool isTight = blocks + kRegistersBesideAccumulator > kMaxRegisters;
  if (now >= tuning.enoughWarpgroups || then < now + (overlapsNow && !isTight))
    return success();
  if (mayLeaveEarly(module) && !hasScores(module) && !isTight)
    return success();
  ProductCycles products = cyclesOfProducts(module);
  OwningOpRef<ModuleOp> four = module.clone();
  std::vector<Diagnostic> said = std::exchange(made.remarks, {});
  DictionaryAttr forFour = before->getDiscardableAttrDictionary();
  for (StringRef choice :
       {kExchangeBytesAttr, kNoSpareSlotsAttr, kTightSlotsAttr, kRefilledSlotsAttr})
    before->removeAttr(choice);
  before->setAttr(tile::kKernelAttr,
                  KernelAttr::get(asked.getContext(), 2 * asked.getWarps(), asked.getStages(),
                                  asked.getCtas(), asked.getRoles()));
  restore(before);
  if (failed(attempt(made.remarks)))
    return failure();
  if (fits() && (failed(chooseRoles(before, made.remarks)) || failed(chooseStages(before, made)) ||
                 failed(chooseSlots(before, made))))
    return failure();
  int64_t became = fits() ? warpgroupsNow(module) : 0;
  double part = became > 0 ? partOfUse(products) : 0, useful = double(became) * part;
  bool isRoomier = isTight && part >= tuning.roomierLeastUse;
  bool isBetter = isRoomier || (overlaps(module) && !overlapsNow && !isLong);
  bool areMore = isLong ? 3 * useful > double(4 * now) : useful > double(now);
  if (became > 0 && (areMore || (isBetter && became == now))) {
    if (became > now)
      relyOn(now / 2 + 1);
    return success();
  }
  before->setDiscardableAttrs(forFour);
  restore(*four);
  made.remarks = std::move(said);
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

LogicalResult FormSearch::choosePrograms(ModuleOp before, Made &made) {
  KernelAttr form = kernelOf(before), asked = made.wanted;
  bool isWished = asked.getRoles() == WarpRoles::Shared;
  bool isOurs = module->hasAttr(kCheckedLaunchAttr) && module->hasAttr(kPersistentAttr);
  if (!isWished && (asked.getRoles() != WarpRoles::Auto || asked.getCtas() > 1 || !isOurs ||
                    !multipliesInLoops(module) || form.getWarps() != kWarpsOfWarpgroup))
    return success();
  const Tuning &tuning = tuningOf(module);
  int64_t enough = warpgroupsWanted();
  // Two that share go in step, and two apart do not, as they should where arithmetic is long.
  int64_t apart = warpgroupsNow(module), now = std::min(apart, enough);
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
                    IntegerAttr::get(IntegerType::get(module.getContext(), 32), programs));
    restore(before);
    before->removeAttr(cta::kWantedProgramsAttr);
    std::vector<Diagnostic> said;
    if (failed(attempt(said)))
      return failure();
    if (cta::blockProgramsOf(module).count == 1) {
      why = whyApart(said).value_or(why);
      break;
    }
    if (fits() && wanted() <= dealt) {
      if (module->hasAttr(cta::kEqualProgramsAttr) && !isWished)
        module->setAttr(cta::kProgramsApartAttr,
                        Builder(module.getContext()).getI32IntegerAttr(int32_t(apart)));
      if (isWished)
        module->removeAttr(cta::kGrowingProgramsAttr);
      made.remarks = std::move(said);
      return success();
    }
  }
  made.lost.insert(why);
  before->setAttr(tile::kKernelAttr, form);
  restore(*alone);
  return success();
}
