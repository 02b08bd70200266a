//===- HooksAsync.cpp - cp.async, bulk copies, and groups of them ---------===//
//
// An asynchronous operation is entered into the history of shared memory when
// it is issued, as an access of its own component that nobody knows to be over
// until it is waited for. Its data moves when the schedule says so.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "text/Format.h"
#include <chrono>
#include <cstring>

using namespace tile::emu;
using tile::formatted;

void tile::emu::startAsync(Cluster &c, uint64_t stream, Tick group,
                           std::function<void()> complete) {
  c.pending.push_back({std::move(complete), stream, group});
  if (c.oneIn(4)) // at once is a legal moment too
    completeOne(c);
}

void tile::emu::checkTargets(Thread &t, uint32_t mask, SiteId site) {
  size_t ctas = t.cluster->ctas.size();
  if (ctas >= 32 || mask >> ctas == 0)
    return;
  report(t, FindingKind::BadOperand, site,
         formatted(
             "the mask {:#x} of the copy's targets names CTAs that a cluster of {} does not have",
             mask, ctas));
  abandon(t);
}

Component tile::emu::groupComponent(Thread &t, AsyncGroups &groups, const char *what) {
  if (!groups.component)
    groups.component = t.cluster->newComponent(
        formatted("{} of warp {}, thread {}", what, t.warp->index, t.index));
  return groups.component;
}

/// Closes the open group; its work is one operation in flight, or two: of stores, the
/// reading and the writing.
static void commit(Thread &t, AsyncGroups &groups, const char *what) {
  groupComponent(t, groups, what);
  auto start = [&](std::vector<std::function<void()>> &steps, uint64_t stream) {
    if (steps.empty())
      return;
    auto work = std::make_shared<std::vector<std::function<void()>>>(std::move(steps));
    steps.clear();
    startAsync(*t.cluster, stream, groups.open, [work] {
      for (auto &step : *work)
        step();
    });
  };
  start(groups.collected, groups.component);
  start(groups.writes, groups.component | kWrites);
  ++groups.open;
}

void tile::emu::waitForGroups(Thread &t, AsyncGroups &groups, uint32_t allowed) {
  Tick committed = groups.open - 1;
  if (!groups.component || committed <= allowed)
    return;
  Tick upTo = committed - allowed;
  if (upTo <= groups.done)
    return;
  completeStream(*t.cluster, groups.component, upTo);
  groups.done = upTo;
  t.clock.generic = with(t.clock.generic, groups.component, upTo);
}

void tile::emu::checkAsyncAtExit(Thread &t) {
  auto check = [&](AsyncGroups &groups, const char *what, const char *wait) {
    if (groups.lastUsed > groups.done)
      report(t, FindingKind::LeakedAsync, groups.lastSite,
             formatted("the thread ends with {} shared offset {} that nobody has waited for; `{}` "
                       "is missing",
                       what, groups.lastOffset - kSharedReserved, wait));
  };
  check(t.copyAsync, "an asynchronous copy to", "cp.async.wait_group");
  check(t.bulk, "a bulk copy from", "cp.async.bulk.wait_group.read");
  checkProductsAtExit(t);
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

static const char *const kCopyAsync = "an asynchronous copy (cp.async)";

extern "C" {

uint64_t tileEmuClock(Thread *) {
  return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count());
}

void tileEmuCopyAsync(Thread *t, uint32_t to, uint64_t from, uint32_t bytes, uint32_t sourceBytes,
                      uint32_t site) {
  Worker &w = *t->cluster->worker;
  if (w.log)
    countAccess(*t, site, true, true, to & kSharedOffsetMask, bytes);
  if (sourceBytes > bytes) {
    report(*t, FindingKind::BadOperand, site, "the source of the copy is larger than the copy");
    sourceBytes = bytes;
  }
  SharedRange range = resolveShared(*t, to, bytes, site);
  if (to % bytes || !range.cta) {
    if (range.cta)
      report(
          *t, FindingKind::Misaligned, site,
          formatted("a copy of {} bytes to a shared address that is not a multiple of it", bytes));
    return;
  }
  const void *source =
      sourceBytes ? globalAddress(*t, from, sourceBytes, kRead | bytes << kAlignmentShift, site)
                  : nullptr;
  AsyncGroups &groups = t->copyAsync;
  groupComponent(*t, groups, kCopyAsync);
  groups.lastUsed = groups.open, groups.lastSite = site, groups.lastOffset = range.offset;
  AsyncAccess access{t,
                     t->clock,
                     groups.component,
                     groups.open,
                     site,
                     "an asynchronous copy",
                     /*genericProxy=*/true};
  asyncSharedWrite(access, *range.cta, range.offset, bytes);
  groups.collected.push_back([range, source, bytes, sourceBytes] {
    if (sourceBytes)
      std::memcpy(range.data(), source, sourceBytes);
    std::memset(range.data() + sourceBytes, 0, bytes - sourceBytes);
  });
}

void tileEmuCopyAsyncCommit(Thread *t, uint32_t site) { commit(*t, t->copyAsync, kCopyAsync); }

void tileEmuCopyAsyncWait(Thread *t, uint32_t allowed, uint32_t all, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  if (all)
    commit(*t, t->copyAsync, kCopyAsync);
  waitForGroups(*t, t->copyAsync, all ? 0 : allowed);
}

/// The mbarrier hears of it when the copies so far are over.
void tileEmuCopyAsyncArrive(Thread *t, uint32_t address, uint32_t noIncrement, uint32_t site) {
  MBarrier &b = findMBarrier(*t, address, site);
  if (!noIncrement)
    ++b.pending;
  commit(*t, t->copyAsync, kCopyAsync);
  AsyncGroups &groups = t->copyAsync;
  Tick tick = groups.open - 1;
  Tick released = t->tick;
  Clock clock = release(*t);
  clock.generic = with(clock.generic, groups.component, tick);
  groups.done = std::max(groups.done, tick); // whoever waits for the barrier has waited for them
  MBarrier *barrier = &b;
  startAsync(*t->cluster, groups.component, tick, [=] {
    barrier->gathering.add(clock, t->component, 0);
    arriveAt(*barrier, *t, clock, released, 1, site);
  });
}

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

static bool bulkOperandsFit(Thread *t, uint64_t a, uint64_t b, uint32_t bytes, SiteId site) {
  if (a % 16 == 0 && b % 16 == 0 && bytes % 16 == 0)
    return true;
  report(*t, FindingKind::BadOperand, site,
         "addresses and size of a bulk copy must be multiples of 16 bytes");
  return false;
}

/// The global side of a bulk copy; there is none after a report.
static uint8_t *bulkGlobal(Thread &t, uint64_t address, uint32_t bytes, uint32_t access,
                           SiteId site) {
  if (!globalInBounds(t, address, bytes, access, site))
    abandon(t);
  return reinterpret_cast<uint8_t *>(address);
}

/// Global (space 1) or shared memory of the cluster (3) to shared memory, on
/// each CTA of the mask, or on the destination's alone if it is 0.
void tileEmuBulkLoad(Thread *t, uint32_t to, uint64_t from, uint32_t bytes, uint32_t barrier,
                     uint32_t mask, uint32_t fromSpace, uint32_t site) {
  Cluster &c = *t->cluster;
  Counters &counters = c.worker->counters;
  ++counters.bulkCopies, counters.bulkLoadBytes += bytes;
  if (c.worker->log)
    countInstruction(*t, site);
  if (!bulkOperandsFit(t, to, from, bytes, site))
    abandon(*t);
  const uint8_t *source = nullptr;
  SharedRange sourceRange;
  if (fromSpace == 3) {
    sourceRange = resolveShared(*t, uint32_t(from), bytes, site);
    if (!sourceRange.cta)
      abandon(*t);
    source = sourceRange.data();
  } else {
    source = bulkGlobal(*t, from, bytes, kRead, site);
  }
  uint32_t targets = mask ? mask : 1u << (to >> kSharedRankShift);
  checkTargets(*t, mask, site);
  for (uint32_t rank = 0; rank < c.ctas.size(); ++rank) {
    if (!(targets >> rank & 1))
      continue;
    auto at = [&](uint32_t address) {
      return (address & kSharedOffsetMask) | rank << kSharedRankShift;
    };
    SharedRange range = resolveShared(*t, at(to), bytes, site);
    if (!range.cta)
      abandon(*t);
    Signal signal = expectSignal(*t, findMBarrier(*t, at(barrier), site, /*async=*/true));
    AsyncAccess access{t, t->clock, signal.barrier->component, signal.tick, site, "a bulk copy"};
    if (sourceRange.cta) {
      asyncSharedRead(access, *sourceRange.cta, sourceRange.offset, bytes);
      visit(*sourceRange.cta, access.component, access.tick, site);
    }
    asyncSharedWrite(access, *range.cta, range.offset, bytes);
    visit(*range.cta, access.component, access.tick, site);
    startAsync(c, 0, 0, [=] {
      std::memcpy(range.data(), source, bytes);
      signalBytes(signal, bytes);
    });
  }
  maybeYield(*t);
}

void tileEmuBulkStore(Thread *t, uint64_t to, uint32_t from, uint32_t bytes, uint32_t site) {
  Counters &counters = t->cluster->worker->counters;
  ++counters.bulkCopies, counters.bulkStoreBytes += bytes;
  if (!bulkOperandsFit(t, to, from, bytes, site))
    abandon(*t);
  SharedRange range = resolveShared(*t, from, bytes, site);
  uint8_t *target = bulkGlobal(*t, to, bytes, kWrite, site);
  if (!range.cta)
    abandon(*t);
  StoreInFlight store;
  store.site = site, store.rows.push_back({to, bytes});
  startBulkStore(*t, range, bytes, "a bulk store", std::move(store),
                 [=](const uint8_t *read) { std::memcpy(target, read, bytes); });
}

/// A hint; but it must be about memory that there is.
void tileEmuBulkPrefetch(Thread *t, uint64_t from, uint32_t bytes, uint32_t site) {
  if (!bulkOperandsFit(t, 0, from, bytes, site))
    abandon(*t);
  bulkGlobal(*t, from, bytes, kRead, site);
}

void tileEmuBulkCommit(Thread *t, uint32_t site) { commit(*t, t->bulk, "a bulk store"); }

void tileEmuBulkWait(Thread *t, uint32_t allowed, uint32_t untilRead, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  waitForBulkStores(*t, allowed, untilRead);
}

/// st.async: registers to another CTA's shared memory, signalling its mbarrier.
void tileEmuStoreAsync(Thread *t, uint32_t to, const uint32_t *words, uint32_t count,
                       uint32_t barrier, uint32_t site) {
  SharedRange range = resolveShared(*t, to, 4 * count, site);
  if (!range.cta)
    abandon(*t);
  Signal signal = expectSignal(*t, findMBarrier(*t, barrier, site, /*async=*/true));
  AsyncAccess access{t,           t->clock, signal.barrier->component,
                     signal.tick, site,     "an asynchronous store"};
  asyncSharedWrite(access, *range.cta, range.offset, 4 * count);
  visit(*range.cta, access.component, access.tick, site);
  std::vector<uint32_t> values(words, words + count);
  startAsync(*t->cluster, 0, 0, [=] {
    std::memcpy(range.data(), values.data(), 4 * values.size());
    signalBytes(signal, 4 * values.size());
  });
}
}

llvm::ArrayRef<Hook> tile::emu::asyncHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuClock),           TILE_HOOK(tileEmuCopyAsync),
                               TILE_HOOK(tileEmuCopyAsyncCommit), TILE_HOOK(tileEmuCopyAsyncWait),
                               TILE_HOOK(tileEmuCopyAsyncArrive), TILE_HOOK(tileEmuBulkLoad),
                               TILE_HOOK(tileEmuBulkStore),       TILE_HOOK(tileEmuBulkCommit),
                               TILE_HOOK(tileEmuBulkWait),        TILE_HOOK(tileEmuBulkPrefetch),
                               TILE_HOOK(tileEmuStoreAsync)};
  return hooks;
}
