//===- MBarrier.cpp - barriers that count arrivals and bytes --------------===//
#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "text/Format.h"
#include <cstring>

using namespace tile::emu;
using tile::formatted;

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

MBarrier &tile::emu::findMBarrier(Thread &t, uint32_t address, SiteId site, bool async) {
  SharedRange range = resolveShared(t, address, 8, site);
  if (!range.cta)
    abandon(t);
  auto it = range.cta->mbarriers.find(range.offset);
  if (it == range.cta->mbarriers.end()) {
    report(t, FindingKind::BarrierMisuse, site,
           formatted("there is no initialised mbarrier at shared offset {}",
                     range.offset - kSharedReserved));
    abandon(t);
  }
  MBarrier &b = it->second;
  bool known = b.initBy == t.component || t.clock.knowsOver(b.initBy, b.initTick);
  if (!known)
    report(t, FindingKind::Race, site,
           formatted("the mbarrier at shared offset {} is used before its initialisation is known "
                     "to this thread",
                     range.offset - kSharedReserved),
           b.initSite,
           formatted("initialised here by {}", describeComponent(*t.cluster, b.initBy)));
  else if (async && tickOf(t.clock.async, b.initBy) < b.initTick)
    report(t, FindingKind::MissingProxyFence, site,
           formatted("an asynchronous operation signals the mbarrier at shared offset {}, and no "
                     "fence stands between it and the initialisation",
                     range.offset - kSharedReserved),
           b.initSite,
           formatted("initialised here by {}", describeComponent(*t.cluster, b.initBy)));
  return b;
}

void tile::emu::checkNoMBarrier(Thread &t, const Cta &cta, uint32_t offset, uint32_t bytes,
                                SiteId site, const char *what) {
  if (offset >= cta.endOfMBarriers || offset + bytes <= cta.firstMBarrier)
    return;
  const MBarrier *met = nullptr;
  for (const auto &[at, barrier] : cta.mbarriers)
    if (at < offset + bytes && offset < at + 8 && (!met || at < met->address))
      met = &barrier;
  if (!met)
    return;
  report(t, FindingKind::BarrierMisuse, site,
         formatted("{} touches the mbarrier at shared offset {}, whose memory is for nothing else "
                   "before `mbarrier.inval`",
                   what, met->address - kSharedReserved),
         met->initSite, "initialised here");
}

/// Ends the phase if nothing is missing.
static void advance(MBarrier &b) {
  if (b.pending != 0 || b.transactions != 0)
    return;
  b.completed = b.gathering.take();
  b.farCompleted = b.farGathering.take();
  b.endedBy = b.lastBy, b.endedTick = b.lastTick;
  if (b.component)
    b.completed.generic = with(b.completed.generic, b.component, b.signalled);
  ++b.phase;
  b.pending = b.count;
  std::vector<Thread *> waiters = std::move(b.waiters);
  b.waiters.clear();
  for (Thread *t : waiters)
    makeRunnable(*t);
  b.cta->cluster->launch->idleTurns.store(0, std::memory_order_relaxed);
}

/// An arrival of a thread that has not heard of the end of the phase before could as well
/// have come in that phase: more threads arrive than the barrier expects. (What other CTAs
/// hear of by the bytes of copies is in no clock.)
static void checkPhaseIsKnown(const MBarrier &b, const Thread &t, const Clock &clock, SiteId site) {
  auto knows = [&](const Clock &c) { return c.knowsOver(b.endedBy, b.endedTick); };
  if (!b.endedBy || b.endedBy == t.component || b.cta != t.cta || knows(clock) ||
      knows(t.seen[0]) || knows(t.seen[1]))
    return;
  report(t, FindingKind::BarrierMismatch, site,
         formatted("the arrival counts for phase {} of the mbarrier at shared offset {}, and "
                   "nothing has told the thread that phase {} has ended, for which it might have "
                   "counted: {} arrivals end a phase",
                   b.phase, b.address - kSharedReserved, b.phase - 1, b.count),
         b.initSite, "initialised here");
}

void tile::emu::arriveAt(MBarrier &b, Thread &t, const Clock &clock, Tick tick, uint32_t count,
                         SiteId site) {
  if (int64_t(count) > b.pending) {
    report(t, FindingKind::BarrierMismatch, site,
           formatted("more arrivals than the mbarrier at shared offset {} expects: {} in phase {}",
                     b.address - kSharedReserved, b.count, b.phase),
           b.initSite, "initialised here");
    abandon(t);
  }
  checkPhaseIsKnown(b, t, clock, site);
  b.lastBy = tick ? t.component : 0, b.lastTick = tick;
  b.pending -= count;
  advance(b);
}

Signal tile::emu::expectSignal(Thread &t, MBarrier &b) {
  if (!b.component)
    b.component = t.cluster->newComponent(formatted(
        "a copy that signals the mbarrier at shared offset {}", b.address - kSharedReserved));
  b.outstanding.push_back(++b.issued);
  return {&b, b.issued};
}

void tile::emu::signalBytes(const Signal &signal, uint64_t bytes) {
  MBarrier &b = *signal.barrier;
  llvm::erase(b.outstanding, signal.tick);
  // Everything before the first copy that is still under way.
  b.signalled = b.outstanding.empty()
                    ? b.issued
                    : *std::min_element(b.outstanding.begin(), b.outstanding.end()) - 1;
  b.transactions -= int64_t(bytes);
  b.lastBy = b.component, b.lastTick = b.signalled;
  advance(b);
}

/// To threads of other CTAs, an arrival of CTA scope tells that this thread has done
/// with its buffers, and nothing of what it has written. Gives the tick that is released.
static Tick releaseInto(MBarrier &b, Thread &t, uint32_t ordering, SiteId site) {
  bool far = b.cta != t.cta, releases = ordering & kReleases;
  Tick tick = releases ? t.tick++ : 0;
  const Clock &clock = releases ? t.clock : t.fenced[far];
  if (!far) {
    b.gathering.add(clock, t.component, tick);
    return tick;
  }
  if (releases)
    visit(*b.cta, t.component, tick, site);
  b.gathering.addOver(clock, t.component, tick);
  if (ordering & kClusterScope)
    b.farGathering.add(clock, t.component, tick);
  return tick;
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

extern "C" {

void tileEmuMBarrierInit(Thread *t, uint32_t address, uint32_t count, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  SharedRange range = checkedShared(*t, address, 8, kWrite, site);
  if (!range.cta)
    abandon(*t);
  checkNoMBarrier(*t, *range.cta, range.offset, 8, site, "an initialisation");
  range.cta->firstMBarrier = std::min(range.cta->firstMBarrier, range.offset);
  range.cta->endOfMBarriers = std::max(range.cta->endOfMBarriers, range.offset + 8);
  uint64_t word = count;
  std::memcpy(range.data(), &word, sizeof word);
  MBarrier &b = range.cta->mbarriers[range.offset];
  b = MBarrier();
  b.cta = range.cta, b.address = range.offset;
  b.count = count, b.pending = count;
  b.initSite = site, b.initBy = t->component, b.initTick = t->tick;
  if (count == 0 || count > 0xfffff)
    report(*t, FindingKind::BarrierMisuse, site,
           formatted("an mbarrier cannot expect {} arrivals", count));
}

void tileEmuMBarrierInval(Thread *t, uint32_t address, uint32_t site) {
  MBarrier &b = findMBarrier(*t, address, site);
  b.cta->mbarriers.erase(b.address);
}

/// Returns the phase before the arrival, as a token for test_wait.
uint64_t tileEmuMBarrierArrive(Thread *t, uint32_t address, uint32_t count, uint32_t bytes,
                               uint32_t ordering, uint32_t drop, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  maybeYield(*t);
  MBarrier &b = findMBarrier(*t, address, site);
  uint64_t token = b.phase;
  b.transactions += bytes;
  passLoads(*t);
  Tick tick = releaseInto(b, *t, ordering, site);
  if (drop)
    b.count -= count;
  arriveAt(b, *t, t->clock, tick, count, site);
  return token;
}

void tileEmuMBarrierExpect(Thread *t, uint32_t address, int32_t bytes, uint32_t site) {
  MBarrier &b = findMBarrier(*t, address, site);
  b.transactions += bytes;
  advance(b);
}

/// Whether the phase has ended; `potentially` waits until it has, or with a seed
/// now and then gives up early, as the hardware may.
uint32_t tileEmuMBarrierWait(Thread *t, uint32_t address, uint64_t phase, uint32_t byParity,
                             uint32_t potentially, uint32_t ordering, uint32_t site) {
  MBarrier *b = &findMBarrier(*t, address, site);
  auto over = [&] { return byParity ? (b->phase & 1) != (phase & 1) : b->phase > phase; };
  if (!over() && potentially && !t->cluster->oneIn(16)) {
    b->waiters.push_back(t);
    waitFor(*t, Wait::MBarrier, b->address, site);
    b = &findMBarrier(*t, address, site);
  }
  if (!over()) {
    t->waitSite = site;
    spin(*t);
    return 0;
  }
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  bool far = ordering & kClusterScope;
  Clock &to = ordering & kAcquires ? t->clock : t->seen[0];
  to.acquire(b->completed);
  if (far)
    (ordering & kAcquires ? t->clock : t->seen[1]).acquire(b->farCompleted);
  return 1;
}
}

llvm::ArrayRef<Hook> tile::emu::mbarrierHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuMBarrierInit), TILE_HOOK(tileEmuMBarrierInval),
                               TILE_HOOK(tileEmuMBarrierArrive), TILE_HOOK(tileEmuMBarrierExpect),
                               TILE_HOOK(tileEmuMBarrierWait)};
  return hooks;
}
