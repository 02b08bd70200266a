//===- HooksBarrier.cpp - named barriers, cluster barriers, fences --------===//
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Machine.h"
#include "emulator/machine/Memory.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace tile::emu;
using tile::formatted;

Clock tile::emu::release(Thread &t) {
  Clock clock = t.clock;
  clock.generic = with(clock.generic, t.component, t.tick);
  ++t.tick;
  return clock;
}

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

static void reportPartialWarps(Cta &cta, const NamedBarrier &b) {
  for (auto [warp, arrivals] : llvm::zip(cta.warps, b.warps)) {
    uint32_t all = llvm::maskTrailingOnes<uint32_t>(warp.numThreads());
    if (!arrivals.aligned || arrivals.lanes == all)
      continue;
    const Thread &here = *warp.lanes[unsigned(llvm::countr_zero(arrivals.lanes))];
    const Thread &missing = *warp.lanes[unsigned(llvm::countr_zero(all & ~arrivals.lanes))];
    report(here, FindingKind::NonUniform, arrivals.site,
           formatted("only lanes {:#x} of warp {} came to this instruction, which takes all of it: "
                     "lane {} did not",
                     arrivals.lanes, warp.index, missing.lane),
           missing.exited ? 0 : missing.waitSite,
           formatted("lane {} {}", missing.lane,
                     missing.exited               ? "has ended"
                     : missing.wait != Wait::None ? "waits here"
                                                  : "is elsewhere"));
  }
}

void tile::emu::reportPartialWarps(Cta &cta) {
  for (const NamedBarrier &b : cta.barriers)
    if (b.arrived)
      ::reportPartialWarps(cta, b);
}

/// No lane of the warp may be waiting for this one at another instruction.
static void checkNotElsewhere(Thread &t, SiteId site) {
  for (uint32_t rest = t.warp->waiting; rest; rest &= rest - 1) {
    const Thread &o = *t.warp->lanes[unsigned(llvm::countr_zero(rest))];
    if (!(o.request.mask >> t.lane & 1))
      continue;
    reportElsewhere(t, site, o);
  }
}

/// At most so many barriers has one turn of a loop that waits for memory to change.
static constexpr uint32_t kBarriersOfALoop = 16;

/// Everybody has come: they now know of each other's past.
static void openBarrier(NamedBarrier &b, Cta &cta) {
  reportPartialWarps(cta, b);
  Clock clock = b.clock.take();
  std::vector<Thread *> waiters = std::move(b.waiters);
  b.waiters.clear();
  b.warps.clear();
  b.arrived = b.expected = 0;
  // A loop that waits for memory to change has barriers too, and gets nowhere.
  if (++cta.cluster->barriersSinceStrong > kBarriersOfALoop)
    cta.cluster->launch->idleTurns.store(0, std::memory_order_relaxed);
  for (Thread *t : waiters) {
    t->clock.acquire(clock);
    t->warp->atBarrier &= ~(1u << t->lane);
    makeRunnable(*t);
  }
}

/// One thread's arrival.
static NamedBarrier &arrive(Thread &t, uint32_t id, uint32_t count, bool aligned, SiteId site) {
  if (id > 15) {
    report(t, FindingKind::BarrierMisuse, site,
           formatted("barrier {} does not exist: there are 16", id));
    abandon(t);
  }
  NamedBarrier &b = t.cta->barriers[id];
  uint32_t expected = count ? count : uint32_t(t.cta->threads.size());
  if (expected % 32 != 0 && expected != t.cta->threads.size()) {
    report(t, FindingKind::BarrierMisuse, site,
           formatted("the thread count {} of barrier {} is not a multiple of 32", expected, id));
    abandon(t);
  }
  if (b.arrived == 0) {
    b.expected = expected, b.firstSite = site, b.firstBy = t.component;
  } else if (b.expected != expected) {
    report(
        t, FindingKind::BarrierMismatch, site,
        formatted("barrier {} is used with {} threads here, and with {} at the same time elsewhere",
                  id, expected, b.expected),
        b.firstSite,
        formatted("the other arrival, by {}", describeComponent(*t.cluster, b.firstBy)));
    abandon(t);
  }
  b.warps.resize(t.cta->warps.size());
  NamedBarrier::Arrivals &mine = b.warps[t.warp->index];
  if (mine.lanes >> t.lane & 1) {
    report(t, FindingKind::BarrierMismatch, site,
           formatted("thread {} arrives twice at barrier {} before it opens", t.index, id),
           b.firstSite,
           formatted("the first arrival of this round, by {}",
                     describeComponent(*t.cluster, b.firstBy)));
    abandon(t);
  }
  t.turns = 0;
  mine.lanes |= 1u << t.lane;
  mine.site = site, mine.aligned |= aligned;
  ++b.arrived;
  waitForLoads(t);
  b.clock.add(t.clock, t.component, t.tick++);
  return b;
}

namespace {
struct BarrierOperands {
  uint32_t id, count;
};
} // namespace

/// A whole warp arrives and goes on.
static void performArrive(Warp &w, uint32_t lanes) {
  for (Thread *t : w.lanes) {
    if (!(lanes >> t->lane & 1))
      continue;
    auto [id, count] = *static_cast<BarrierOperands *>(t->request.operands);
    NamedBarrier &b = arrive(*t, id, count, /*aligned=*/true, t->request.site);
    if (b.arrived == b.expected)
      openBarrier(b, *w.cta);
  }
}

static void performNothing(Warp &, uint32_t) {}

extern "C" {

void tileEmuBarrierSync(Thread *t, uint32_t id, uint32_t count, uint32_t aligned, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  if (t->cluster->oneIn(8))
    yield(*t);
  Warp &w = *t->warp;
  if (aligned) {
    checkTogether(*t, ~0u, true, site);
    checkNotElsewhere(*t, site);
  }
  NamedBarrier &b = arrive(*t, id, count, aligned, site);
  b.waiters.push_back(t);
  t->wait = Wait::Barrier, t->waitKey = id, t->waitSite = site;
  w.runnable &= ~(1u << t->lane);
  if (aligned)
    w.atBarrier |= 1u << t->lane;
  if (b.arrived == b.expected)
    openBarrier(b, *t->cta);
  if (t->wait == Wait::None && !t->cluster->randomOrder)
    return; // the last to come goes on
  block(*t);
}

void tileEmuBarrierArrive(Thread *t, uint32_t id, uint32_t count, uint32_t aligned, uint32_t site) {
  if (!count) {
    report(*t, FindingKind::BarrierMisuse, site, "`bar.arrive` needs a thread count");
    abandon(*t);
  }
  if (aligned) {
    BarrierOperands o{id, count};
    converge(*t, {performArrive, id | uint64_t(count) << 8, ~0u, site, &o, /*aligned=*/true});
  } else {
    if (t->cluster->worker->log)
      countInstruction(*t, site);
    NamedBarrier &b = arrive(*t, id, count, /*aligned=*/false, site);
    if (b.arrived == b.expected)
      openBarrier(b, *t->cta);
  }
  maybeYield(*t);
}
}

/// Two rounds of the same barrier: everybody leaves a vote, then reads all. The last to read clears
/// the table for those who leave the second round first and vote again.
extern "C" uint32_t tileEmuBarrierReduce(Thread *t, uint32_t id, uint32_t count, uint32_t predicate,
                                         uint32_t mode, uint32_t aligned, uint32_t site) {
  NamedBarrier &b = t->cta->barriers[id & 15];
  b.trues += predicate != 0;
  ++b.votes;
  tileEmuBarrierSync(t, id, count, aligned, site);
  uint32_t trues = b.trues, votes = b.votes;
  if (++b.read == votes)
    b.trues = b.votes = b.read = 0;
  tileEmuBarrierSync(t, id, count, aligned, site);
  return mode == 0 ? trues : mode == 1 ? trues == votes : trues != 0;
}

//===----------------------------------------------------------------------===//
// Cluster barriers
//===----------------------------------------------------------------------===//

/// Ends the round when all threads that have not ended have arrived.
static void advance(Cluster &c) {
  ClusterBarrier &b = c.barrier;
  if (b.arrived == 0 || b.arrived - b.ended < c.liveThreads)
    return;
  b.completed = b.clock.take();
  b.arrived = b.ended = 0;
  ++b.phase;
  b.hasArrived.assign(b.hasArrived.size(), false);
  c.launch->idleTurns.store(0, std::memory_order_relaxed);
  for (Thread *waiter : b.waiters) {
    waiter->clock.acquire(b.completed);
    makeRunnable(*waiter);
  }
  b.waiters.clear();
}

void tile::emu::leaveClusterBarrier(Thread &t) {
  ClusterBarrier &b = t.cluster->barrier;
  if (t.component < b.hasArrived.size() && b.hasArrived[t.component])
    ++b.ended;
  advance(*t.cluster);
}

static void arriveAtCluster(Thread &t, bool relaxed, SiteId site) {
  ClusterBarrier &b = t.cluster->barrier;
  b.hasArrived.resize(t.cluster->firstAsyncComponent);
  b.unwaited.resize(t.cluster->firstAsyncComponent);
  if (SiteId first = b.unwaited[t.component]) {
    report(t, FindingKind::BarrierMismatch, site,
           "the thread arrives at the cluster barrier twice without waiting for it", first,
           "its first arrival");
    abandon(t);
  }
  b.hasArrived[t.component] = true;
  b.unwaited[t.component] = site;
  if (relaxed) { // counts, and promises what a fence before it did
    b.clock.add(t.fenced[1], t.component, 0);
    b.clock.addOver(t.initialised, t.component, 0);
  } else {
    waitForLoads(t);
    b.clock.add(t.clock, t.component, t.tick++);
  }
  ++b.arrived;
  advance(*t.cluster);
}

/// A whole warp arrives; the qualifier says whether it promises anything.
static void performClusterArrive(Warp &w, uint32_t lanes) {
  for (Thread *t : w.lanes)
    if (lanes >> t->lane & 1)
      arriveAtCluster(*t, t->request.qualifiers != 0, t->request.site);
}

extern "C" {

void tileEmuClusterArrive(Thread *t, uint32_t relaxed, uint32_t aligned, uint32_t site) {
  if (aligned) {
    converge(*t, {performClusterArrive, relaxed, ~0u, site, nullptr, /*aligned=*/true});
    return;
  }
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  arriveAtCluster(*t, relaxed, site);
}

void tileEmuClusterWait(Thread *t, uint32_t aligned, uint32_t site) {
  if (aligned)
    converge(*t, {performNothing, site, ~0u, site, nullptr, /*aligned=*/true});
  else if (t->cluster->worker->log)
    countInstruction(*t, site);
  ClusterBarrier &b = t->cluster->barrier;
  b.hasArrived.resize(t->cluster->firstAsyncComponent);
  b.unwaited.resize(t->cluster->firstAsyncComponent);
  b.unwaited[t->component] = 0;
  if (!b.hasArrived[t->component]) { // this thread's round is over, or was never begun
    t->clock.acquire(b.completed);
    return;
  }
  b.waiters.push_back(t);
  waitFor(*t, Wait::ClusterBarrier, 0, site);
}

/// fence.proxy.async and fence.mbarrier_init: what this thread knows of becomes
/// known to the asynchronous operations that follow it.
void tileEmuProxyFence(Thread *t, uint32_t initialisation, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  waitForLoads(*t);
  t->clock.async = join(t->clock.async, with(t->clock.generic, t->component, t->tick));
  if (initialisation)
    t->initialised = release(*t);
  else
    ++t->tick;
}
}

llvm::ArrayRef<Hook> tile::emu::barrierHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuBarrierSync),   TILE_HOOK(tileEmuBarrierArrive),
                               TILE_HOOK(tileEmuBarrierReduce), TILE_HOOK(tileEmuClusterArrive),
                               TILE_HOOK(tileEmuClusterWait),   TILE_HOOK(tileEmuProxyFence)};
  return hooks;
}
