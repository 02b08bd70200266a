//===- HooksMemory.cpp - loads, stores, atomics ---------------------------===//
#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Numbers.h"
#include "text/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace tile::emu;
using tile::formatted;

/// Where accesses go that must not happen.
static void *scrap() {
  alignas(64) static thread_local uint8_t bytes[4096];
  std::memset(bytes, 0, sizeof(bytes));
  return bytes;
}

static const char *verb(uint32_t access) {
  uint32_t kind = access & kKindMask;
  return kind == kRead ? "load" : kind == kWrite ? "store" : "atomic operation";
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// The registered range that holds the bytes; null if none does.
static const MemoryRange *findRange(const Launch &launch, uint64_t address, uint64_t bytes) {
  const auto &memory = launch.config.memory;
  auto after = std::upper_bound(memory.begin(), memory.end(), address,
                                [](uint64_t a, const MemoryRange &r) { return a < r.base; });
  if (after == memory.begin())
    return nullptr;
  const MemoryRange &r = *std::prev(after);
  return address - r.base <= r.bytes && bytes <= r.bytes - (address - r.base) ? &r : nullptr;
}

static std::string describeBounds(const Thread &t, uint64_t address) {
  const Launch &launch = *t.cluster->launch;
  if (inPrivateMemory(t, address))
    return "which is outside of the variables in the thread's private memory";
  const MemoryRange *nearest = nullptr;
  uint64_t best = ~uint64_t(0);
  for (const MemoryRange &r : launch.config.memory) {
    uint64_t distance = address < r.base              ? r.base - address
                        : address >= r.base + r.bytes ? address - (r.base + r.bytes)
                                                      : 0;
    if (distance < best)
      best = distance, nearest = &r;
  }
  if (!nearest || best > (1u << 20))
    return "which is in no buffer";
  if (address >= nearest->base + nearest->bytes)
    return formatted("{} bytes past the end of a buffer of {} bytes",
                     address - (nearest->base + nearest->bytes), nearest->bytes);
  if (address < nearest->base)
    return formatted("{} bytes before a buffer of {} bytes", nearest->base - address,
                     nearest->bytes);
  return formatted("byte {} of a buffer of {} bytes, and runs over its end",
                   address - nearest->base, nearest->bytes);
}

static bool aligned(Thread &t, uint64_t address, uint32_t bytes, uint32_t access, SiteId site) {
  uint32_t alignment = access >> kAlignmentShift ? access >> kAlignmentShift : bytes;
  if (address % alignment == 0)
    return true;
  report(t, FindingKind::Misaligned, site,
         formatted("{} of {} bytes at address {:#x}, which is not a multiple of {}", verb(access),
                   bytes, address, alignment));
  return false;
}

bool tile::emu::globalInBounds(Thread &t, uint64_t address, uint64_t bytes, uint32_t access,
                               SiteId site) {
  Worker &w = *t.cluster->worker;
  auto isKnown = [&] {
    for (const MemoryRange &r : w.ranges)
      if (address - r.base < r.bytes && bytes <= r.bytes - (address - r.base))
        return true;
    const MemoryRange *r = findRange(*w.launch, address, bytes);
    if (r)
      w.ranges[w.nextRange++ % 4] = *r;
    return r != nullptr;
  };
  if (isKnown()) {
    if (!t.cluster->stores.empty())
      checkStoresInFlight(t, address, bytes, access, site);
    if (w.launch->order)
      w.launch->order->touch(t, address, bytes, access, site);
    if (w.launch->sums && (access & kKindMask) != kAtomic)
      w.launch->sums->touch(address, bytes);
    return true;
  }
  if (isOwnObject(t, address, bytes, (access & kKindMask) != kRead))
    return true;
  report(t, FindingKind::OutOfBounds, site,
         formatted("{} of {} bytes at address {:#x}, {}", verb(access), bytes, address,
                   describeBounds(t, address)));
  return false;
}

void *tile::emu::globalAddress(Thread &t, uint64_t address, uint32_t bytes, uint32_t access,
                               SiteId site) {
  Worker &w = *t.cluster->worker;
  if (w.log)
    countAccess(t, site, false, (access & kKindMask) != kRead, address, bytes);
  if (!aligned(t, address, bytes, access, site))
    return scrap();
  if (!globalInBounds(t, address, bytes, access, site))
    return scrap();
  if (t.cta->globalShadow && !(access & kStrong))
    checkAmongThreads(t, address, bytes, access, site);
  if (access & kStrong && (access & kKindMask) != kRead)
    publish(t, address, /*shared=*/false, access);
  return reinterpret_cast<void *>(address);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

SharedRange tile::emu::resolveShared(Thread &t, uint32_t address, uint32_t bytes, SiteId site) {
  uint32_t rank = address >> kSharedRankShift, offset = address & kSharedOffsetMask;
  Cluster &c = *t.cluster;
  if (rank < c.ctas.size()) {
    Cta &cta = c.ctas[rank];
    if (offset >= kSharedReserved && offset <= cta.sharedBytes &&
        bytes <= cta.sharedBytes - offset) {
      if (cta.liveThreads)
        return {&cta, offset};
      report(t, FindingKind::OutOfBounds, site,
             formatted("shared memory of CTA ({}, {}, {}) of the cluster, which has ended",
                       cta.id[0], cta.id[1], cta.id[2]));
      return {};
    }
  }
  report(t, FindingKind::OutOfBounds, site,
         formatted("{} bytes at shared offset {}{}, where the kernel has {} bytes", bytes,
                   int64_t(offset) - kSharedReserved,
                   rank < c.ctas.size() ? "" : " of a CTA that does not exist",
                   t.cta->sharedBytes - kSharedReserved));
  return {};
}

void tile::emu::reportConflict(Thread &t, Cta &cta, const Conflict &conflict, SiteId site,
                               const char *what) {
  std::string at = formatted("shared offset {}", conflict.offset - kSharedReserved);
  const Event &other = conflict.other;
  std::string who = other ? describeComponent(*t.cluster, other.component()) : "";
  // What would do in one CTA.
  const char *scope = conflict.narrow ? "; what there is on the way has a narrower scope than the "
                                        "cluster"
                                      : "";
  switch (conflict.kind) {
  case Conflict::None:
    return;
  case Conflict::Unwritten:
    report(t, FindingKind::Uninitialized, site,
           formatted("{} reads {}, which nobody has written", what, at));
    return;
  case Conflict::Fence:
    report(t, FindingKind::MissingProxyFence, site,
           formatted("{} uses {} through the asynchronous proxy, and no `fence.proxy.async` stands "
                     "between it and the write",
                     what, at),
           other.site(), formatted("written here by {}", who));
    return;
  case Conflict::WriteWrite:
  case Conflict::WriteRead:
    report(t, FindingKind::Race, site,
           formatted("data race: {} {} {}, and nothing orders this after a write by {}{}", what,
                     conflict.kind == Conflict::WriteWrite ? "writes" : "reads", at, who, scope),
           other.site(), formatted("written here by {}", who));
    return;
  case Conflict::ReadWrite:
    report(t, FindingKind::Race, site,
           formatted("data race: {} writes {}, and nothing orders this after a read by {}{}", what,
                     at, who, scope),
           other.site(), formatted("read here by {}", who));
    return;
  case Conflict::Passed:
    report(t, FindingKind::Race, site,
           formatted("data race: {} writes {}, while a load from there may not have come: nothing "
                     "waits for its value before the arrival that gave the memory back",
                     what, at),
           other.site(), formatted("read here by {}", who));
    return;
  }
}

static const char *whatOf(uint32_t access) {
  uint32_t kind = access & kKindMask;
  return kind == kRead ? "a load" : kind == kWrite ? "a store" : "an atomic operation";
}

SharedRange tile::emu::checkedShared(Thread &t, uint32_t address, uint32_t bytes, uint32_t access,
                                     SiteId site) {
  if (!aligned(t, address, bytes, access, site))
    return {};
  SharedRange range = resolveShared(t, address, bytes, site);
  if (!range.cta || !range.cta->shadow)
    return range;
  if (range.cta != t.cta)
    visit(*range.cta, t.component, t.tick, site);
  uint32_t kind = access & kKindMask;
  Event event(t.component, t.tick, site, /*async=*/false, access & kStrong, access & kClusterScope);
  Shadow::View view{t.clock, t.component, t.cluster->launch->config.threads};
  Shadow &shadow = *range.cta->shadow;
  Conflict conflict = kind == kRead ? shadow.read(range.offset, bytes, event, view)
                                    : shadow.write(range.offset, bytes, event, view);
  if (conflict.kind)
    reportConflict(t, *range.cta, conflict, site, whatOf(access));
  if (access & kStrong && kind != kRead)
    publish(t, address, /*shared=*/true, access);
  return range;
}

void *tile::emu::sharedAddress(Thread &t, uint32_t address, uint32_t bytes, uint32_t access,
                               SiteId site) {
  if (t.cluster->worker->log)
    countAccess(t, site, true, (access & kKindMask) != kRead, address & kSharedOffsetMask, bytes);
  SharedRange range = checkedShared(t, address, bytes, access, site);
  if (!range.cta)
    return scrap();
  checkNoMBarrier(t, *range.cta, range.offset, bytes, site, whatOf(access));
  return range.data();
}

/// Enters an access that nobody waits for at once into the history.
static void recordAsync(const AsyncAccess &a, Cta &cta, uint32_t offset, uint32_t bytes,
                        Conflict (Shadow::*access)(uint32_t, uint32_t, Event,
                                                   const Shadow::View &)) {
  checkNoMBarrier(*a.issuer, cta, offset, bytes, a.site, a.what);
  if (!cta.shadow)
    return;
  Shadow::View view{a.clock, a.issuer->component, a.issuer->cluster->launch->config.threads};
  Event event(a.component, a.tick, a.site, !a.genericProxy);
  Conflict conflict = ((*cta.shadow).*access)(offset, bytes, event, view);
  if (conflict.kind)
    reportConflict(*a.issuer, cta, conflict, a.site, a.what);
}

void tile::emu::asyncSharedRead(const AsyncAccess &a, Cta &cta, uint32_t offset, uint32_t bytes) {
  recordAsync(a, cta, offset, bytes, &Shadow::read);
}

void tile::emu::asyncSharedWrite(const AsyncAccess &a, Cta &cta, uint32_t offset, uint32_t bytes) {
  recordAsync(a, cta, offset, bytes, &Shadow::write);
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

extern "C" {

// Only these switch to other threads: what they call may be at work for a whole
// warp, on one lane's stack.

void *tileEmuGlobal(Thread *t, uint64_t address, uint32_t bytes, uint32_t access, uint32_t site) {
  maybeYield(*t);
  return globalAddress(*t, address, bytes, access, site);
}

void *tileEmuShared(Thread *t, uint32_t address, uint32_t bytes, uint32_t access, uint32_t site) {
  maybeYield(*t);
  return sharedAddress(*t, address, bytes, access, site);
}

/// A generic address: shared memory, what is the thread's own, or global memory.
void *tileEmuGeneric(Thread *t, uint64_t address, uint32_t bytes, uint32_t access, uint32_t site) {
  if (address - kGenericShared <= UINT32_MAX)
    return sharedAddress(*t, uint32_t(address - kGenericShared), bytes, access, site);
  if (isOwnObject(*t, address, bytes, (access & kKindMask) != kRead))
    return reinterpret_cast<void *>(address);
  return globalAddress(*t, address, bytes, access, site);
}

void tileEmuSkip(Thread *t, uint32_t shared, uint32_t write, uint32_t site) {
  if (t->cluster->worker->log)
    countSkipped(*t, site, shared, write);
}

/// After a strong load: what it has seen.
void tileEmuObserve(Thread *t, uint64_t address, uint32_t space, uint32_t access) {
  bool shared = space == 3;
  if (space == 0 && address - kGenericShared <= UINT32_MAX)
    shared = true, address -= kGenericShared;
  observe(*t, address, shared, access);
}

/// Volatile and synchronising accesses: waiting for memory to change is what
/// loops do with them.
void tileEmuSpin(Thread *t, uint32_t wrote, uint32_t site) {
  t->waitSite = site;
  if (wrote)
    t->cluster->launch->idleTurns.store(0, std::memory_order_relaxed);
  t->cluster->barriersSinceStrong = 0;
  spin(*t);
}

/// An atomic operation; `kind` is AtomicKind, `bytes` 2, 4 or 8, `space` 0
/// generic, 1 global, 3 shared.
uint64_t tileEmuAtomic(Thread *t, uint64_t address, uint64_t operand, uint64_t compare,
                       uint32_t kind, uint32_t bytes, uint32_t space, uint32_t ordering,
                       uint32_t site) {
  uint32_t access = kAtomic | ordering;
  void *at = space == 1   ? globalAddress(*t, address, bytes, access, site)
             : space == 3 ? sharedAddress(*t, uint32_t(address), bytes, access, site)
                          : tileEmuGeneric(t, address, bytes, access, site);
  SortedSums *sums = t->cluster->launch->sums.get();
  uint64_t place = reinterpret_cast<uint64_t>(at);
  if (!isFloatSum(AtomicKind(kind)) || !findRange(*t->cluster->launch, place, bytes))
    sums = nullptr;
  auto run = [&](auto zero) -> uint64_t {
    using Word = decltype(zero);
    auto *word = static_cast<Word *>(at);
    auto held = sums ? sums->lock() : std::unique_lock<std::mutex>();
    Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST), next;
    do
      next = Word(applyAtomic(AtomicKind(kind), old, operand, compare, bytes));
    while (
        !__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    if (sums)
      sums->add(place, AtomicKind(kind), bytes, old, Word(operand), next);
    if (next != old)
      t->cluster->launch->idleTurns.store(0, std::memory_order_relaxed);
    return old;
  };
  uint64_t old = bytes == 2 ? run(uint16_t()) : bytes == 4 ? run(uint32_t()) : run(uint64_t());
  tileEmuObserve(t, address, space, access);
  t->waitSite = site;
  t->cluster->barriersSinceStrong = 0;
  spin(*t);
  return old;
}
}

llvm::ArrayRef<Hook> tile::emu::memoryHooks() {
  static const Hook hooks[] = {
      TILE_HOOK(tileEmuGlobal),  TILE_HOOK(tileEmuShared), TILE_HOOK(tileEmuGeneric),
      TILE_HOOK(tileEmuSkip),    TILE_HOOK(tileEmuSpin),   TILE_HOOK(tileEmuAtomic),
      TILE_HOOK(tileEmuObserve),
  };
  return hooks;
}
