//===- GlobalOrder.cpp - what orders the programs of a grid ----------------===//
#include "emulator/machine/GlobalOrder.h"
#include "emulator/machine/Memory.h"
#include "text/Format.h"
#include <sys/mman.h>

using namespace tile::emu;
using tile::formatted;

namespace {
/// One access of a cluster, packed. `strong`: at the scope of the GPU.
struct GlobalEvent {
  uint64_t bits = 0;
  GlobalEvent() = default;
  explicit GlobalEvent(uint64_t bits) : bits(bits) {}
  GlobalEvent(uint64_t cluster, uint32_t epoch, SiteId site, bool atomic, bool strong)
      : bits(cluster << 46 | uint64_t(epoch & 0x7fffff) << 23 | uint64_t(site & 0xfffff) << 3 |
             uint64_t(atomic) << 2 | uint64_t(strong) << 1 | 1) {}
  uint32_t cluster() const { return uint32_t(bits >> 46); }
  uint32_t epoch() const { return uint32_t(bits >> 23) & 0x7fffff; }
  SiteId site() const { return SiteId(bits >> 3) & 0xfffff; }
  bool atomic() const { return bits & 4; }
  bool strong() const { return bits & 2; }
};
} // namespace

static void addEpochs(Epochs &to, const Epochs &from) {
  for (auto [cluster, epoch] : from) {
    uint32_t &mine = to[cluster];
    mine = std::max(mine, epoch);
  }
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void GlobalOrder::publish(Cluster &cluster, uint64_t address, uint32_t access) {
  if (!(access & kGpuScope))
    return;
  ClusterOrder &order = cluster.order;
  uint32_t upTo = access & kReleases ? order.epoch++ : order.fenced;
  if (!upTo)
    return;
  std::lock_guard lock(mutex);
  Epochs &word = words[address];
  addEpochs(word, order.known);
  uint32_t &mine = word[uint32_t(cluster.linearId)];
  mine = std::max(mine, upTo);
}

void GlobalOrder::observe(Cluster &cluster, uint64_t address, uint32_t access) {
  if (!(access & kGpuScope))
    return;
  std::lock_guard lock(mutex);
  auto word = words.find(address);
  if (word != words.end())
    addEpochs(access & kAcquires ? cluster.order.known : cluster.order.seen, word->second);
}

void GlobalOrder::fence(ClusterOrder &order) {
  order.fenced = order.epoch++;
  addEpochs(order.known, order.seen);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Memory of zeros that costs nothing until it is touched; null if there is none.
static void *reserve(size_t bytes) {
  void *block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return block == MAP_FAILED ? nullptr : block;
}

GlobalOrder::GlobalOrder(llvm::ArrayRef<MemoryRange> memory) {
  for (const MemoryRange &m : memory) {
    Range &r = ranges.emplace_back();
    r.memory = m;
    if (!m.bytes)
      continue;
    r.writes = static_cast<Slot *>(reserve(m.bytes * sizeof(Slot)));
    r.reads = static_cast<Slot *>(reserve(m.bytes * sizeof(Slot)));
  }
}

GlobalOrder::~GlobalOrder() {
  for (Range &r : ranges)
    for (Slot *slots : {r.writes, r.reads})
      if (slots)
        munmap(slots, r.memory.bytes * sizeof(Slot));
}

void GlobalOrder::touch(Thread &t, uint64_t address, uint64_t bytes, uint32_t access, SiteId site) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](uint64_t a, const Range &r) { return a < r.memory.base; });
  if (after == ranges.begin())
    return;
  Range &range = *std::prev(after);
  uint64_t first = address - range.memory.base;
  if (!range.writes || !range.reads || first + bytes > range.memory.bytes)
    return;
  Cluster &c = *t.cluster;
  bool reads = (access & kKindMask) == kRead, atomic = access & kStrong;
  GlobalEvent now(c.linearId, c.order.epoch, site, atomic, atomic && access & kGpuScope);
  auto inOrder = [&](GlobalEvent e) {
    return !e.bits || e.cluster() == now.cluster() || (e.strong() && now.strong()) ||
           c.order.known.lookup(e.cluster()) >= e.epoch();
  };
  auto give = [&](GlobalEvent e, uint64_t at, const char *what, const char *earlier) {
    uint32_t perCluster = uint32_t(c.ctas.size());
    bool narrow = e.atomic() && now.atomic();
    report(
        t, FindingKind::Race, site,
        formatted("data race: byte {} of a buffer of global memory, at address {:#x}, is {}, and "
                  "nothing of the scope of the GPU orders this after {} by another program{}",
                  at, range.memory.base + at, what, earlier,
                  narrow ? ": one of them is atomic in its CTA or cluster only" : ""),
        e.site(),
        formatted("{} by {} {} of the grid", earlier, perCluster > 1 ? "cluster" : "program",
                  e.cluster()));
  };
  uint64_t judgedWrite = 0, judgedRead = 0;
  for (uint64_t at = first; at < first + bytes; ++at) {
    GlobalEvent write(range.writes[at].load(std::memory_order_relaxed));
    GlobalEvent read(range.reads[at].load(std::memory_order_relaxed));
    if (write.bits != judgedWrite && !inOrder(write))
      return give(write, at, reads ? "read" : "written", "a write");
    judgedWrite = write.bits;
    if (reads) {
      if (read.bits != now.bits && inOrder(read))
        range.reads[at].store(now.bits, std::memory_order_relaxed);
      continue;
    }
    if (read.bits != judgedRead && !inOrder(read))
      return give(read, at, "written", "a read");
    judgedRead = read.bits;
    range.writes[at].store(now.bits, std::memory_order_relaxed);
    if (read.bits)
      range.reads[at].store(0, std::memory_order_relaxed);
  }
}
