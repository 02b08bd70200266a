//===- HooksBarrier.cpp - named barriers, cluster barriers, fences --------===//
#include "emulator/Hooks.h"
#include "emulator/Machine.h"
#include "emulator/Memory.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tile::emu;

Clock tile::emu::release(Thread &t) {
  Clock clock = t.clock;
  clock.generic = with(clock.generic, t.component, t.tick);
  ++t.tick;
  return clock;
}

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

/// Everybody has come: they now know of each other's past.
static void openBarrier(NamedBarrier &b) {
  Clock clock = b.clock.take();
  std::vector<Thread *> waiters = std::move(b.waiters);
  b.waiters.clear();
  b.who.clear();
  b.arrived = b.expected = 0;
  for (Thread *t : waiters) {
    t->clock.acquire(clock);
    t->cluster->launch->idleTurns.store(0, std::memory_order_relaxed);
    makeRunnable(*t);
  }
}

/// One thread's arrival; false if the barrier cannot be used so.
static bool arrive(Thread &t, uint32_t id, uint32_t count, SiteId site) {
  if (id > 15) {
    report(t, FindingKind::BarrierMisuse, site,
           llvm::formatv("barrier {0} does not exist: there are 16", id).str());
    abandon(t);
  }
  NamedBarrier &b = t.cta->barriers[id];
  uint32_t expected = count ? count : uint32_t(t.cta->threads.size());
  if (expected % 32 != 0 && expected != t.cta->threads.size()) {
    report(
        t, FindingKind::BarrierMisuse, site,
        llvm::formatv("the thread count {0} of barrier {1} is not a multiple of 32", expected, id)
            .str());
    abandon(t);
  }
  if (b.arrived == 0) {
    b.expected = expected, b.firstSite = site;
  } else if (b.expected != expected) {
    report(t, FindingKind::BarrierMismatch, site,
           llvm::formatv("barrier {0} is used with {1} threads here, and with {2} at the same time "
                         "elsewhere",
                         id, expected, b.expected)
               .str(),
           b.firstSite, "the other arrival");
    abandon(t);
  }
  b.who.resize(t.cta->threads.size());
  if (b.who[t.index]) {
    report(
        t, FindingKind::BarrierMismatch, site,
        llvm::formatv("thread {0} arrives twice at barrier {1} before it opens", t.index, id).str(),
        b.firstSite, "the first arrival of this round");
    abandon(t);
  }
  b.who[t.index] = true;
  ++b.arrived;
  b.clock.add(t.clock, t.component, t.tick++);
  return true;
}

/// All lanes of a warp must be at the same instruction. Each compares with one
/// that came before it.
static void checkUniform(Thread &t, uint32_t id, SiteId site) {
  uint32_t n = t.warp->numThreads();
  for (uint32_t i = 1; i < n; ++i) {
    const Thread &other = *t.warp->lanes[(t.lane + n - i) % n];
    if (other.wait != Wait::Barrier || other.waitKey != id)
      continue;
    if (other.waitSite != site)
      report(
          t, FindingKind::NonUniform, site,
          llvm::formatv("lanes of one warp arrive at barrier {0} from different instructions", id)
              .str(),
          other.waitSite, llvm::formatv("lane {0} is here", other.lane).str());
    return;
  }
}

extern "C" {

void tileEmuBarrierSync(Thread *t, uint32_t id, uint32_t count, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  if (t->cluster->oneIn(8))
    yield(*t);
  checkUniform(*t, id, site);
  arrive(*t, id, count, site);
  NamedBarrier &b = t->cta->barriers[id];
  b.waiters.push_back(t);
  t->wait = Wait::Barrier, t->waitKey = id, t->waitSite = site;
  t->warp->runnable &= ~(1u << t->lane);
  if (b.arrived == b.expected)
    openBarrier(b);
  if (t->wait == Wait::None && !t->cluster->randomOrder)
    return; // the last to come goes on
  block(*t);
}

void tileEmuBarrierArrive(Thread *t, uint32_t id, uint32_t count, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  if (!count) {
    report(*t, FindingKind::BarrierMisuse, site, "`bar.arrive` needs a thread count");
    abandon(*t);
  }
  arrive(*t, id, count, site);
  NamedBarrier &b = t->cta->barriers[id];
  if (b.arrived == b.expected)
    openBarrier(b);
  maybeYield(*t);
}
}

/// The operands of a barrier with a reduction are gathered by the barrier's
/// first word of state: popc in the low half, "all" and "any" above.
namespace {
struct Reduction {
  uint32_t trues = 0, total = 0;
};
} // namespace

extern "C" uint32_t tileEmuBarrierReduce(Thread *t, uint32_t id, uint32_t count, uint32_t predicate,
                                         uint32_t mode, uint32_t site) {
  // Two rounds of the same barrier: everybody leaves a vote, then reads all.
  static thread_local std::unordered_map<const NamedBarrier *, Reduction> votes;
  NamedBarrier &b = t->cta->barriers[id & 15];
  Reduction &r = votes[&b];
  r.trues += predicate != 0;
  ++r.total;
  tileEmuBarrierSync(t, id, count, site);
  uint32_t trues = votes[&b].trues, total = votes[&b].total;
  tileEmuBarrierSync(t, id, count, site);
  votes.erase(&b);
  return mode == 0 ? trues : mode == 1 ? trues == total : trues != 0;
}

//===----------------------------------------------------------------------===//
// Cluster barriers
//===----------------------------------------------------------------------===//

extern "C" {

void tileEmuClusterArrive(Thread *t, uint32_t relaxed, uint32_t site) {
  ClusterBarrier &b = t->cluster->barrier;
  b.hasArrived.resize(t->cluster->firstAsyncComponent);
  if (b.hasArrived[t->component]) {
    report(*t, FindingKind::BarrierMismatch, site,
           "the thread arrives at the cluster barrier twice without waiting for it");
    abandon(*t);
  }
  b.hasArrived[t->component] = true;
  if (relaxed) // counts, but promises nothing about memory
    b.clock.add(Clock(), t->component, 0);
  else
    b.clock.add(t->clock, t->component, t->tick++);
  t->waitKey = b.phase;
  if (++b.arrived < t->cluster->firstAsyncComponent - 1)
    return;
  b.completed = b.clock.take();
  b.arrived = 0;
  ++b.phase;
  b.hasArrived.assign(b.hasArrived.size(), false);
  t->cluster->launch->idleTurns.store(0, std::memory_order_relaxed);
  for (Thread *waiter : b.waiters) {
    waiter->clock.acquire(b.completed);
    makeRunnable(*waiter);
  }
  b.waiters.clear();
}

void tileEmuClusterWait(Thread *t, uint32_t site) {
  ClusterBarrier &b = t->cluster->barrier;
  b.hasArrived.resize(t->cluster->firstAsyncComponent);
  if (!b.hasArrived[t->component]) { // this thread's round is over, or was never begun
    t->clock.acquire(b.completed);
    return;
  }
  b.waiters.push_back(t);
  waitFor(*t, Wait::ClusterBarrier, 0, site);
}

/// fence.proxy.async and fence.mbarrier_init: what this thread knows of becomes
/// known to the asynchronous operations that follow it.
void tileEmuProxyFence(Thread *t, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  t->clock.async = join(t->clock.async, with(t->clock.generic, t->component, t->tick));
  ++t->tick;
}

/// Other fences: memory is coherent here, so only the count is kept.
void tileEmuFence(Thread *t, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
}
}

llvm::ArrayRef<Hook> tile::emu::barrierHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuBarrierSync),   TILE_HOOK(tileEmuBarrierArrive),
                               TILE_HOOK(tileEmuBarrierReduce), TILE_HOOK(tileEmuClusterArrive),
                               TILE_HOOK(tileEmuClusterWait),   TILE_HOOK(tileEmuProxyFence),
                               TILE_HOOK(tileEmuFence)};
  return hooks;
}
