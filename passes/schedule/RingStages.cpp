//===- RingStages.cpp - how many slots the rings of a kernel have --------===//
//
// More slots keep more bytes on their way, and leave less shared memory for other programs, whose
// warpgroups keep the tensor cores busy too.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "passes/facts/Branches.h"
#include "passes/facts/FormFacts.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "passes/memory/Scratch.h"
#include "passes/schedule/WarpSpecializer.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::specialization;

/// Whether a loop computes with what its one product gave in the same turn, beyond adding it up.
/// Another product would run under that.
static bool worksOnResultsInTurn(func::FuncOp kernel) {
  auto isWork = [](Operation *op) {
    return isElementByElement(op) && !isa<arith::AddFOp, arith::AddIOp>(op);
  };
  return kernel
      .walk([&](cta::WarpgroupDotOp dot) {
        bool works = isa<scf::ForOp>(dot->getParentOp()) && startsAnew(dot.getAcc()) &&
                     llvm::hasSingleElement(dot->getBlock()->getOps<cta::WarpgroupDotOp>()) &&
                     llvm::any_of(dot->getUsers(), isWork);
        return works ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What decides how many slots the rings have: the bytes that they take and the warpgroups that
/// then compute on a multiprocessor, up to as many as are of use.
struct WarpSpecializer::StageCosts {
  StageCosts(WarpSpecializer &in, unsigned threads)
      : in(in), module(in.kernel->getParentOfType<ModuleOp>()), threads(threads),
        others(lowering::bytesBesidesSlots(module, {}, /*withStores=*/false)),
        stored(lowering::bytesBesidesSlots(module, {}) - others),
        blocks(registersDuringProducts(in.kernel)), enough(enoughWarpgroups(in.kernel)),
        worksOnResults(!hasFewPrograms(module) && worksOnResultsInTurn(in.kernel)),
        storeInSlots(threads == cta::threadsOf(module) && in.storesFollowSlots()) {
    // For programs that never come no room need be left: what is on its way is all by these.
    enough = std::min(enough, warpgroupsOfFewPrograms(module).value_or(enough));
    for (Group &group : in.groups)
      most = std::max(most, group.stages);
  }
  /// Of a group, if the deepest have `count`.
  int32_t stagesOf(const Group &group, int32_t count) const {
    return group.stages == most && most > 1 ? count : std::min(group.stages, count);
  }
  /// All that has the ring of a group.
  SmallVector<Operation *> usersOf(const Group &owner) const {
    SmallVector<Operation *> users;
    for (const Group &group : in.groups)
      if (&group == &owner || group.partner == &owner) {
        users.append({group.firstUser, group.lastUser});
        llvm::append_range(users, group.loads);
      }
    return users;
  }
  bool areApart(const Group &first, const Group &second) const {
    SmallVector<Operation *> others = usersOf(second);
    return llvm::all_of(usersOf(first), [&](Operation *one) {
      return llvm::all_of(others, [&](Operation *o) { return areInOtherBranches(one, o); });
    });
  }
  int64_t bytes(int32_t count) const {
    SmallVector<const Group *> own;
    SmallVector<int64_t> each;
    for (const Group &group : in.groups)
      if (!group.partner) {
        own.push_back(&group);
        each.push_back(lowering::ringBytes(in.ringTypeOf(group), stagesOf(group, count)));
      }
    int64_t sum = 0;
    placesOf(each, [&](size_t i, size_t j) { return areApart(*own[i], *own[j]); }, sum);
    return others + (storeInSlots ? std::max(sum, stored) : sum + stored);
  }
  int64_t warpgroups(int32_t count) const { return std::min(enough, allWarpgroups(count)); }
  int64_t allWarpgroups(int32_t count) const {
    if (threads == cta::threadsOf(module)) // each also starts copies
      return warpgroupsAtOnce(module, blocks, bytes(count));
    return programsAtOnce(module, blocks, bytes(count), threads) *
           int64_t(cta::threadsOf(module) / kWarpgroupThreads);
  }
  /// Whether a stage more than `count`, which nobody has asked for, keeps no warpgroup of use away:
  /// behind as many as by default all are, where turns work on what one product gave. Each hides
  /// what others wait for.
  bool isDeeperFree(int32_t count) const {
    return worksOnResults && count >= kDefaultStages
               ? allWarpgroups(count + 1) >= allWarpgroups(count)
               : warpgroups(count + 1) >= warpgroups(count);
  }
  /// The deepest that fit shared memory.
  int32_t mostThatFit() const {
    int32_t count = most;
    while (count > 1 && bytes(count) > lowering::maxSharedBytes(module))
      --count;
    return count;
  }
  /// `count`, or as few as `fewest` where that gives a lone warpgroup company.
  int32_t fewerForCompany(int32_t count, int32_t fewest) const {
    for (int32_t fewer = count - 1; fewer >= fewest; --fewer)
      if (warpgroups(fewer) > warpgroups(count))
        count = fewer;
    return count;
  }
  /// Of the groups of loops those that are read in the innermost, if others are read in loops
  /// around them.
  SmallVector<Group *> innermost() const {
    auto depthOf = [](const Group &group) {
      unsigned depth = 0;
      for (auto loop = group.firstUser->getParentOfType<scf::ForOp>(); loop;
           loop = loop->getParentOfType<scf::ForOp>())
        ++depth;
      return depth;
    };
    auto isShared = [&](const Group &group) {
      return group.partner ||
             llvm::any_of(in.groups, [&](const Group &other) { return other.partner == &group; });
    };
    unsigned deepest = 0, shallowest = UINT_MAX;
    for (const Group &group : in.groups)
      if (group.stages == most) {
        deepest = std::max(deepest, depthOf(group));
        shallowest = std::min(shallowest, depthOf(group));
      }
    SmallVector<Group *> inner;
    for (Group &group : in.groups)
      if (group.stages == most && shallowest < deepest && depthOf(group) == deepest &&
          !isShared(group))
        inner.push_back(&group);
    return inner;
  }
  /// A slot for each, but as many as fit for `inner`: a turn of an inner loop waits for its own
  /// copies soon after the one before.
  void deepen(ArrayRef<Group *> inner) const {
    set(1);
    for (bool isDeeper = true; isDeeper;) {
      isDeeper = false;
      for (Group *group : inner) {
        if (group->stages >= most)
          continue;
        ++group->stages;
        bool fits = bytes(most) <= lowering::maxSharedBytes(module);
        isDeeper |= fits;
        group->stages -= !fits;
      }
    }
  }
  void set(int32_t count) const {
    for (Group &group : in.groups)
      group.stages = stagesOf(group, count);
  }

  WarpSpecializer &in;
  ModuleOp module;
  unsigned threads; ///< of a program, those that copy included
  int64_t others, stored, blocks, enough;
  bool worksOnResults;
  bool storeInSlots; ///< as tile-allocate-scratch does, where no warp copies ahead of stores
  int32_t most = 1;
};

/// Whether all that is stored is so behind all that is copied.
bool WarpSpecializer::storesFollowSlots() const {
  auto here = [&](Operation *op) { return body.findAncestorOpInBlock(*op); };
  bool follow = true;
  func::FuncOp(kernel).walk([&](cta::TmaStoreOp store) {
    follow &= llvm::all_of(groups, [&](const Group &group) {
      return here(group.lastUser)->isBeforeInBlock(here(store));
    });
  });
  return follow;
}

/// As many stages as were asked for, if there is shared memory for them. Fewer where that gives
/// a lone warpgroup company. More where they cost no warpgroup
/// that is of use: one thread that also computes starts copies later than one that does nothing
/// else.
int32_t WarpSpecializer::stagesAhead(const StageCosts &costs, bool mayDeepen) const {
  int32_t most = costs.most, count = costs.mostThatFit(), fewest = 1;
  for (const Group &group : groups)
    if (auto loop = group.firstUser->getParentOfType<scf::ForOp>(); loop && group.stages == most)
      fewest = std::max(fewest, fewestStages(loop, count, costs.warpgroups(count)));
  count = costs.fewerForCompany(count, fewest);
  while (mayDeepen && most > 1 && count >= most && count < tuningOf(kernel).mostOperandStages &&
         costs.isDeeperFree(count))
    ++count;
  return count;
}

void WarpSpecializer::chooseStagesAhead() {
  StageCosts costs(*this, cta::threadsOf(kernel));
  costs.set(shareRings(costs, [&](bool widely) { return stagesAhead(costs, !widely); }));
}

/// What `choose` takes for the number of stages. Rings are shared with groups of other kinds where
/// that lets more warpgroups in, or where there would be fewer stages than by default.
int32_t WarpSpecializer::shareRings(const StageCosts &costs, function_ref<int32_t(bool)> choose) {
  findPartners(/*widely=*/false);
  int32_t count = choose(false);
  int64_t warpgroups = costs.warpgroups(count);
  findPartners(/*widely=*/true);
  int32_t wide = choose(true);
  int64_t then = costs.warpgroups(wide);
  bool areFew = count < std::min({costs.most, wide, kDefaultStages});
  sharesWidely = then > warpgroups || (then == warpgroups && areFew);
  findPartners(sharesWidely);
  return sharesWidely ? wide : count;
}

/// Where several warpgroups compute, a multiprocessor has one program, and shared memory that its
/// ring does not take lies idle: as many stages as it takes until the products of all but one last
/// as long as a copy, where each turn of the loop has one product.
int32_t WarpSpecializer::coverCopies(const StageCosts &costs, int32_t count) const {
  const Tuning &tuning = tuningOf(kernel);
  int64_t cycles = 0;
  for (const Group &group : groups) {
    auto loop = group.firstUser->getParentOfType<scf::ForOp>();
    auto products = loop ? llvm::to_vector(loop.getOps<cta::WarpgroupDotOp>())
                         : SmallVector<cta::WarpgroupDotOp>();
    if (products.size() != 1)
      return count;
    int64_t own = cyclesOfShare(products.front(), /*warpgroups=*/1);
    cycles = cycles ? std::min(cycles, own) : own;
  }
  while (cycles && count > 1 && count < tuning.mostOperandStages &&
         (count - 1) * cycles < tuning.copyCycles &&
         costs.bytes(count + 1) <= lowering::maxSharedBytes(costs.module))
    ++count;
  return count;
}

/// Beside a warpgroup that has a warp to copy for it: fewer stages than were asked for where other
/// programs' warpgroups come in for them, as many as by default where they keep none away. What is
/// in flight is the same for a few programs with deep rings as for more with shallow ones; tensor
/// cores are busier with more.
void WarpSpecializer::chooseStagesOfRoles() {
  unsigned threads = cta::threadsOf(kernel);
  bool isElastic = llvm::any_of(groups, [](const Group &group) { return group.isElastic; });
  if (programs || isElastic)
    return;
  StageCosts costs(*this, threads + cta::producerThreads(threads));
  if (threads != kWarpgroupThreads) { // what does not fit is for tile-allocate-scratch
    int32_t count = shareRings(costs, [&](bool) { return costs.mostThatFit(); });
    int32_t deeper = count == costs.most ? coverCopies(costs, count) : count;
    SmallVector<Group *> inner = costs.innermost();
    if (sharesWidely || deeper > count)
      costs.set(deeper);
    else if (count < kFewestAhead && !inner.empty())
      costs.deepen(inner);
    return;
  }
  costs.set(shareRings(costs, [&](bool) {
    int32_t count = costs.fewerForCompany(costs.mostThatFit(), kDefaultStages);
    while (costs.most > 1 && count < kDefaultStages &&
           costs.bytes(count + 1) <= lowering::maxSharedBytes(costs.module) &&
           costs.warpgroups(count + 1) >= costs.warpgroups(count))
      ++count;
    return count;
  }));
}
