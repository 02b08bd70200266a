//===- Scheduler.cpp - whose turn it is -----------------------------------===//
//
// Two orders. Without a seed: a lane runs until it waits, then the next lane of
// its warp, then the next warp, and asynchronous work ends only when nobody can
// go on without it: as late as the program allows, so that what was not waited
// for is not there. With a seed: any runnable thread may be next, asynchronous
// work may end at any moment, and CTAs interleave.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Scheduler.h"
#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Memory.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include <chrono>
#include <thread>

using namespace tile::emu;
using tile::formatted;

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

/// The `n`-th set bit of `mask`.
static unsigned nthBit(uint32_t mask, unsigned n) {
  while (n--)
    mask &= mask - 1;
  return unsigned(llvm::countr_zero(mask));
}

static Thread *pickRandom(Cluster &c) {
  unsigned start = c.choose(uint32_t(c.warps.size()));
  for (unsigned i = 0; i < c.warps.size(); ++i) {
    unsigned w = (start + i) % c.warps.size();
    if (uint32_t lanes = c.warps[w]->runnable) {
      c.currentWarp = w;
      c.currentLane = nthBit(lanes, c.choose(unsigned(llvm::popcount(lanes))));
      return c.warps[w]->lanes[c.currentLane];
    }
  }
  return nullptr;
}

static Thread *pickInTurn(Cluster &c, bool leaveWarp) {
  unsigned n = unsigned(c.warps.size());
  for (unsigned i = leaveWarp ? 1 : 0; i <= n; ++i) {
    unsigned w = (c.currentWarp + i) % n;
    uint32_t lanes = c.warps[w]->runnable;
    if (!lanes)
      continue;
    uint32_t later = w == c.currentWarp && c.currentLane < 31 ? lanes & (~1u << c.currentLane) : 0;
    c.currentWarp = w;
    c.currentLane = unsigned(llvm::countr_zero(later ? later : lanes));
    return c.warps[w]->lanes[c.currentLane];
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

static std::string describeWait(const Thread &t) {
  const Cta &cta = *t.cta;
  switch (t.wait) {
  case Wait::None:
    return "is running";
  case Wait::WarpOp:
    return formatted("waits for the other lanes of its warp, mask {:#x}, of which {:#x} came",
                     t.request.mask, t.warp->waiting);
  case Wait::Barrier: {
    const NamedBarrier &b = cta.barriers[t.waitKey];
    return formatted("waits at barrier {}, where {} of {} threads have arrived", t.waitKey,
                     b.arrived, b.expected);
  }
  case Wait::MBarrier: {
    auto it = cta.mbarriers.find(uint32_t(t.waitKey));
    if (it == cta.mbarriers.end())
      return "waits at an mbarrier";
    const MBarrier &b = it->second;
    return formatted("waits for phase {} of the mbarrier at shared offset {}, which lacks {} "
                     "of {} arrivals and {} bytes",
                     b.phase, b.address - kSharedReserved, b.pending, b.count, b.transactions);
  }
  case Wait::AsyncGroup:
    return "waits for asynchronous work of its own";
  case Wait::ClusterBarrier:
    return formatted("waits at the cluster barrier, where {} of {} threads have arrived",
                     t.cluster->barrier.arrived, t.cluster->liveThreads + t.cluster->barrier.ended);
  }
  return "";
}

namespace {
/// Threads that wait for the same.
struct Group {
  const Thread *first;
  std::string wait;
  unsigned count = 0;
};
} // namespace

static std::string describe(const Group &group) {
  std::string others = group.count > 1 ? formatted(" and {} more", group.count - 1) : "";
  return formatted("{}{} {}", describe(*group.first), others, group.wait);
}

/// Who waits for what, one entry for each different wait.
static void reportDeadlock(Cluster &c) {
  std::vector<Group> groups;
  for (Cta &cta : c.ctas)
    for (const Thread &t : cta.threads) {
      if (t.exited)
        continue;
      std::string wait = describeWait(t);
      auto same = llvm::find_if(
          groups, [&](Group &g) { return g.wait == wait && g.first->waitSite == t.waitSite; });
      if (same == groups.end())
        groups.push_back({&t, wait, 1});
      else
        ++same->count;
    }
  std::string all;
  for (Group &g : llvm::drop_begin(groups))
    all += (all.empty() ? "" : "; ") + describe(g);
  unsigned exited = 0;
  for (Cta &cta : c.ctas)
    exited += c.launch->config.threads - cta.liveThreads;
  if (exited)
    all += formatted("{}{} threads have ended", all.empty() ? "" : "; ", exited);
  Group &first = groups.front();
  report(*first.first, FindingKind::Deadlock, first.first->waitSite,
         formatted("deadlock: {}", describe(first)),
         groups.size() > 1 ? groups[1].first->waitSite : 0, all);
  for (Cta &cta : c.ctas)
    reportPartialWarps(cta);
}

//===----------------------------------------------------------------------===//
// Asynchronous work
//===----------------------------------------------------------------------===//

static void completeAt(Cluster &c, size_t i) {
  // Operations of one stream end in order.
  for (size_t j = 0; j < i; ++j)
    if (c.pending[i].stream && c.pending[j].stream == c.pending[i].stream) {
      i = j;
      break;
    }
  AsyncOperation operation = std::move(c.pending[i]);
  c.pending.erase(c.pending.begin() + ptrdiff_t(i));
  operation.complete();
}

bool tile::emu::completeOne(Cluster &c) {
  if (c.pending.empty())
    return false;
  completeAt(c, c.randomOrder ? c.choose(uint32_t(c.pending.size())) : 0);
  return true;
}

void tile::emu::completeStream(Cluster &c, uint64_t stream, Tick group) {
  for (size_t i = 0; i < c.pending.size();) {
    if (c.pending[i].stream == stream && c.pending[i].group <= group) {
      AsyncOperation operation = std::move(c.pending[i]);
      c.pending.erase(c.pending.begin() + ptrdiff_t(i));
      operation.complete();
    } else {
      ++i;
    }
  }
}

//===----------------------------------------------------------------------===//
// Switching
//===----------------------------------------------------------------------===//

Thread *tile::emu::nextThread(Cluster &c, bool leaveWarp) {
  for (;;) {
    if (c.launch->stop) {
      c.outcome = Outcome::Failed;
      return nullptr;
    }
    if (!c.pending.empty() && c.oneIn(6))
      completeOne(c);
    if (Thread *t = c.randomOrder ? pickRandom(c) : pickInTurn(c, leaveWarp))
      return t;
    if (c.liveThreads == 0) {
      while (completeOne(c))
        ;
      c.outcome = Outcome::Finished;
      return nullptr;
    }
    if (completeOne(c))
      continue;
    reportDeadlock(c);
    c.outcome = Outcome::Failed;
    return nullptr;
  }
}

static void leave(Thread &thread, Thread *next) {
  if (next != &thread)
    switchFiber(thread.context, next ? next->context : thread.cluster->host);
}

void tile::emu::block(Thread &thread) {
  thread.turns = 0;
  leave(thread, nextThread(*thread.cluster, false));
}

void tile::emu::yield(Thread &thread) {
  Cluster &c = *thread.cluster;
  leave(thread, nextThread(c, /*leaveWarp=*/true));
}

/// Lets others run, other CTAs too.
static void giveWay(Thread &thread) {
  Cluster &c = *thread.cluster;
  // Whoever spins may be waiting for a copy, or for another CTA.
  if (!c.pending.empty() && ++c.spins % 64 == 0)
    completeOne(c);
  bool others = c.worker->resident.size() > 1 || c.launch->nextCluster < c.launch->numClusters;
  if (++c.spins >= 512 || c.oneIn(16)) {
    c.spins = 0;
    if (others) {
      c.outcome = Outcome::Suspended;
      switchFiber(thread.context, c.host);
      return;
    }
    std::this_thread::yield();
  }
  leave(thread, nextThread(c, /*leaveWarp=*/true));
}

void tile::emu::spin(Thread &thread) {
  Launch &launch = *thread.cluster->launch;
  thread.turns = 0; // counted here
  uint64_t idle = launch.idleTurns.fetch_add(1, std::memory_order_relaxed);
  // Whoever could move on may be computing, or waiting for a processor.
  if (launch.isParallel && (idle + 1) % (launch.options.stepLimit / 64 + 1) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (idle > launch.options.stepLimit) {
    if (!launch.stop.exchange(true))
      report(thread, FindingKind::Stuck, thread.waitSite,
             formatted("the launch is stuck: {} turns went by and nothing moved on",
                       launch.options.stepLimit));
  }
  giveWay(thread);
}

void tile::emu::spend(Launch &launch, uint64_t work) {
  uint64_t limit = launch.options.workLimit;
  uint64_t done = launch.work.fetch_add(work, std::memory_order_relaxed) + work;
  if (!limit || done <= limit || launch.stop.exchange(true))
    return;
  const auto &grid = launch.config.grid;
  launch.findings.add(
      FindingKind::TooMuchWork, 0, "the launch",
      formatted("{} blocks of {} threads come to more than {} operations, which is what a launch "
                "may do; take smaller sizes, or raise that (`--launch-limit`)",
                uint64_t(grid[0]) * grid[1] * grid[2], launch.config.threads, limit));
}

/// Every so many turns of a thread's loops. Whoever only computes does so
/// undisturbed, up to the limit. Then others get their turns now and then: they may end
/// a loop that looks at memory by ordinary accesses. What goes on after that has no end.
extern "C" void tileEmuTurns(Thread *t, uint32_t site) {
  constexpr uint64_t kLastTurns = 1 << 18;
  constexpr uint32_t kFewTurns = 1 << 8;
  Cluster &c = *t->cluster;
  Launch &launch = *c.launch;
  uint64_t taken = c.goesRound ? kFewTurns : kTurnsAtOnce;
  t->turns += taken;
  spend(launch, taken * kTurnWork);
  c.goesRound |= t->turns >= launch.options.turnLimit;
  t->registers[kTurnsLeft] = c.goesRound ? kFewTurns : kTurnsAtOnce;
  if (t->turns >= launch.options.turnLimit + kLastTurns && !launch.stop.exchange(true))
    report(*t, FindingKind::Stuck, site,
           formatted("stuck in a loop: {} turns of it, or of loops around it, without waiting "
                     "for anybody (a loop that is to see a change of memory needs volatile or "
                     "atomic accesses)",
                     t->turns));
  if (c.goesRound || launch.stop)
    giveWay(*t);
}

/// A loop's counter is no longer between its bounds, and never will be at its end.
extern "C" void tileEmuCounterPassed(Thread *t, uint32_t site) {
  Launch &launch = *t->cluster->launch;
  if (!launch.stop.exchange(true))
    report(*t, FindingKind::Stuck, site,
           "the counter of this loop steps past the end of its type, so that the loop would not "
           "end: its bounds need more bits, `.to(tl.int64)`");
  giveWay(*t);
}

llvm::ArrayRef<Hook> tile::emu::schedulerHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuTurns), TILE_HOOK(tileEmuCounterPassed)};
  return hooks;
}

void tile::emu::makeRunnable(Thread &thread) {
  thread.wait = Wait::None;
  thread.warp->runnable |= 1u << thread.lane;
}

void tile::emu::waitFor(Thread &thread, Wait wait, uint64_t key, SiteId site) {
  thread.wait = wait, thread.waitKey = key, thread.waitSite = site;
  thread.warp->runnable &= ~(1u << thread.lane);
  block(thread);
}

void tile::emu::abandon(Thread &thread) {
  thread.cluster->outcome = Outcome::Failed;
  switchFiber(thread.context, thread.cluster->host);
  __builtin_unreachable();
}
