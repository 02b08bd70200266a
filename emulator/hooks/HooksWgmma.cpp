//===- HooksWgmma.cpp - matrix products of a warpgroup --------------------===//
//
// A product is issued by each of the four warps and runs once all have. Its
// accumulators are not registers until somebody waits: what the program holds
// meanwhile are tokens, numbers of slots in which the values will be. Whoever
// computes with a token computes with a NaN.
//
//===----------------------------------------------------------------------===//
#include "emulator/hooks/Warpgroup.h"
#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile::emu;
using tile::formatted;

namespace {
/// What one lane passes.
struct WgmmaOperands {
  uint64_t shape;
  uint32_t *words; ///< accumulators, then A if it comes in registers
  uint64_t descriptorA, descriptorB;
  uint32_t scaleD, flags;
};
} // namespace

constexpr uint32_t kTokenMask = 0xfff00000, kToken = 0x7fa00000;

/// Slots are spread over the numbers that a token has room for: in the algebraic mode accumulators
/// are any numbers, and those that programs like end in zeros.
constexpr uint32_t kSpread = 0xb5297, kGathered = 0x94d27, kFirst = 0x9e377;
static_assert((kSpread * kGathered & ~kTokenMask) == 1);
static uint32_t tokenOf(uint32_t slot) {
  return kToken | ((slot * kSpread + kFirst) & ~kTokenMask);
}
static uint32_t slotOf(uint32_t token) { return (token - kFirst) * kGathered & ~kTokenMask; }

static Warpgroup &warpgroupOf(Thread &t) {
  auto &all = t.cta->warpgroups;
  unsigned index = t.index / 128;
  if (all.size() <= index)
    all.resize(index + 1);
  if (!all[index]) {
    auto group = std::make_shared<Warpgroup>();
    group->cta = t.cta, group->index = index;
    group->values.resize(128), group->owner.resize(128);
    group->component =
        t.cluster->newComponent(formatted("a matrix product of warpgroup {}", index));
    all[index] = group;
  }
  return *all[index];
}

//===----------------------------------------------------------------------===//
// Issuing
//===----------------------------------------------------------------------===//

/// Replaces a lane's accumulators by tokens and notes their slots. True if some were registers,
/// which no product has written.
static bool takeAccumulators(Warpgroup &g, Product &p, Tick number, unsigned lane,
                             const WgmmaOperands &o, unsigned registers) {
  auto &values = g.values[lane];
  auto &owner = g.owner[lane];
  bool plain = false;
  for (unsigned i = 0; i < registers; ++i) {
    uint32_t word = o.words[i], slot = slotOf(word);
    bool isToken = (word & kTokenMask) == kToken && slot < values.size();
    if (isToken && owner[slot] == number)
      report(g.cta->threads[g.index * 128 + lane], FindingKind::AccumulatorInFlight, p.site,
             "two accumulators of this matrix product are copies of one, which an earlier product "
             "may still write");
    if (!isToken || owner[slot] == number) {
      slot = uint32_t(values.size());
      values.push_back(word);
      owner.push_back(0);
      plain = true;
    }
    owner[slot] = number;
    p.slots[lane * registers + i] = slot;
    o.words[i] = tokenOf(slot);
  }
  return plain;
}

/// Each warp must be in order with those who wrote the operands; false where one is out of bounds.
static bool readOperands(Thread &first, Warpgroup &g, Product &p, Tick number) {
  SiteId site = p.site;
  MatrixShape s = p.shape;
  bool checked =
      p.joined && p.clock.generic == first.clock.generic && p.clock.async == first.clock.async;
  SharedOperand b =
      decodeDescriptor(first, p.descriptorB, p.flags & kTransB, elementBits(s.b) / 8, site);
  bool good = inBounds(first, b, s.n, s.k, site);
  if (good && !checked)
    recordReads(first, g, number, b, s.n, s.k, site);
  if (!(p.flags & kAInRegisters)) {
    SharedOperand a =
        decodeDescriptor(first, p.descriptorA, p.flags & kTransA, elementBits(s.a) / 8, site);
    good &= inBounds(first, a, 64, s.k, site);
    if (good && !checked)
      recordReads(first, g, number, a, 64, s.k, site);
  }
  return good;
}

static void performWgmma(Warp &w, uint32_t) {
  Thread &first = *w.lanes[0];
  Warpgroup &g = warpgroupOf(first);
  unsigned warp = w.index % 4;
  auto &o = *static_cast<WgmmaOperands *>(first.request.operands);
  SiteId site = first.request.site;
  Tick number = g.next[warp]++;
  if (number - g.first >= g.products.size())
    g.products.emplace_back();
  Product &p = g.product(number);
  MatrixShape s = MatrixShape::unpack(o.shape);
  unsigned registers = s.n * (s.accumulator == Element::F16 ? 1u : 2u) / 4;
  if (!p.joined) {
    p.shape = s, p.site = site, p.flags = o.flags, p.scaleD = o.scaleD;
    p.descriptorA = o.descriptorA, p.descriptorB = o.descriptorB;
    p.slots.resize(128 * registers);
    if (o.flags & kAInRegisters)
      p.aWords.resize(128 * 4);
  } else if (p.site != site || p.shape.pack() != o.shape || p.descriptorB != o.descriptorB ||
             p.descriptorA != o.descriptorA || p.scaleD != o.scaleD) {
    report(first, FindingKind::NonUniform, site,
           "the warps of a warpgroup issue different matrix products", p.site,
           formatted("warp {} is here", w.index - warp + llvm::countr_zero(p.joined)));
    abandon(first);
  }
  bool plain = o.flags & kAInRegisters;
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto &mine = *static_cast<WgmmaOperands *>(w.lanes[lane]->request.operands);
    if (mine.descriptorA != o.descriptorA || mine.descriptorB != o.descriptorB ||
        mine.scaleD != o.scaleD)
      report(first, FindingKind::NonUniform, site,
             "the lanes of a warp pass different descriptors to a matrix product");
    plain |= takeAccumulators(g, p, number, 32 * warp + lane, mine, registers);
    if (o.flags & kAInRegisters)
      std::copy_n(mine.words + registers, 4, &p.aWords[4 * (32 * warp + lane)]);
  }
  if (plain && !g.fenced[warp])
    report(first, FindingKind::BarrierMisuse, site,
           "no `wgmma.fence` stands between this matrix product and the registers it uses");

  if (!readOperands(first, g, p, number))
    abandon(first);
  p.joined |= 1u << warp;
  p.clock = first.clock;
  if (p.joined != 15)
    return;
  g.started = number;
  Warpgroup *group = &g;
  startAsync(*first.cluster, g.component, number, [group, number] { compute(*group, number); });
  for (Thread *t : g.waiters)
    makeRunnable(*t);
  g.waiters.clear();
}

static void performFence(Warp &w, uint32_t) { warpgroupOf(*w.lanes[0]).fenced[w.index % 4] = true; }

static void performCommit(Warp &w, uint32_t) {
  Warpgroup &g = warpgroupOf(*w.lanes[0]);
  unsigned warp = w.index % 4;
  g.committed[warp] = g.next[warp] - 1;
  g.groups[warp].push_back(g.committed[warp]);
}

/// Products that are over for everybody are forgotten.
static void forget(Warpgroup &g) {
  Tick over = std::min(std::min(g.waited[0], g.waited[1]), std::min(g.waited[2], g.waited[3]));
  while (!g.products.empty() && g.first <= over) {
    g.products.pop_front();
    ++g.first;
  }
}

static void performWait(Warp &, uint32_t) {}

static bool isWarpgroup(Thread &t, SiteId site) {
  if (t.cta->threads.size() >= (t.index / 128 + 1) * 128u)
    return true;
  report(t, FindingKind::NonUniform, site, "a warpgroup needs 128 threads");
  abandon(t);
}

void tile::emu::checkProductsAtExit(Thread &t) {
  unsigned index = t.index / 128, warp = t.index / 32 % 4;
  if (index >= t.cta->warpgroups.size() || !t.cta->warpgroups[index])
    return;
  Warpgroup &g = *t.cta->warpgroups[index];
  Tick last = g.next[warp] - 1;
  if (last <= g.waited[warp])
    return;
  SiteId site = 0;
  std::string operand;
  if (last >= g.first) {
    const Product &p = g.product(last);
    site = p.site;
    operand = formatted(" of B at shared offset {}",
                        int64_t((p.descriptorB & 0x3fff) << 4) - kSharedReserved);
  }
  report(t, FindingKind::LeakedAsync, site,
         formatted("the thread ends with a matrix product{} that nobody has waited for", operand));
}

extern "C" {

void tileEmuWgmma(Thread *t, uint64_t shape, uint32_t *words, uint64_t descriptorA,
                  uint64_t descriptorB, uint32_t scaleD, uint32_t flags, uint32_t site) {
  isWarpgroup(*t, site);
  WgmmaOperands o{shape, words, descriptorA, descriptorB, scaleD, flags};
  converge(*t, {performWgmma, shape, ~0u, site, &o, /*aligned=*/true});
}

void tileEmuWgmmaFence(Thread *t, uint32_t site) {
  isWarpgroup(*t, site);
  converge(*t, {performFence, site, ~0u, site, nullptr, /*aligned=*/true});
}

void tileEmuWgmmaCommit(Thread *t, uint32_t site) {
  isWarpgroup(*t, site);
  converge(*t, {performCommit, site, ~0u, site, nullptr, /*aligned=*/true});
}

void tileEmuWgmmaWait(Thread *t, uint32_t allowed, uint32_t site) {
  isWarpgroup(*t, site);
  converge(*t, {performWait, site, ~0u, site, nullptr, /*aligned=*/true});
  Warpgroup &g = warpgroupOf(*t);
  unsigned warp = t->index / 32 % 4;
  auto &groups = g.groups[warp];
  // The lanes of a warp come here one after another; the last cleans up.
  Tick upTo = g.waited[warp];
  if (groups.size() > allowed)
    upTo = groups[groups.size() - 1 - allowed];
  while (g.started < upTo) { // the other warps have not issued their part
    g.waiters.push_back(t);
    waitFor(*t, Wait::AsyncGroup, 0, site);
  }
  completeStream(*t->cluster, g.component, upTo);
  t->clock.generic = with(t->clock.generic, g.component, upTo);
  g.waited[warp] = std::max(g.waited[warp], upTo);
  g.fenced[warp] = false;
  converge(*t, {performWait, uint64_t(site) << 1 | 1, ~0u, site, nullptr, /*aligned=*/true});
  while (groups.size() > allowed)
    groups.pop_front();
  forget(g);
}

/// A 32-bit value that may be an accumulator: its value if that is known.
uint32_t tileEmuPin(Thread *t, uint32_t word, uint32_t) {
  if ((word & kTokenMask) != kToken)
    return word;
  unsigned index = t->index / 128;
  if (index >= t->cta->warpgroups.size() || !t->cta->warpgroups[index])
    return word;
  Warpgroup &g = *t->cta->warpgroups[index];
  uint32_t slot = slotOf(word), lane = t->index % 128;
  if (slot >= g.values[lane].size() || g.owner[lane][slot] > g.waited[lane / 32])
    return word;
  return g.values[lane][slot];
}

void tileEmuTouchAccumulator(Thread *t, uint32_t site, uint32_t product) {
  report(*t, FindingKind::AccumulatorInFlight, site,
         "an accumulator is used while a matrix product may still write it", product,
         "the product, which no `wgmma.wait_group` stands behind");
}

void tileEmuSetMaxRegisters(Thread *t, uint32_t count, uint32_t increase, uint32_t site) {
  converge(*t, {performWait, count, ~0u, site, nullptr, /*aligned=*/true});
  if (count < 24 || count > 256 || count % 8)
    report(*t, FindingKind::BadOperand, site,
           formatted("`setmaxnreg` takes a multiple of 8 from 24 to 256, not {}", count));
  uint32_t entry = std::min(255u, 65536 / uint32_t(t->cta->threads.size())) & ~7u;
  uint32_t before = t->maxRegisters ? t->maxRegisters : entry;
  if (increase ? count < before : count > before)
    report(*t, FindingKind::BadOperand, site,
           formatted("`setmaxnreg` {} registers from {} to {}",
                     increase ? "increases" : "decreases", before, count));
  t->maxRegisters = count;
  // What all threads hold together must fit the register file.
  uint64_t sum = 0;
  for (const Thread &other : t->cta->threads)
    sum += other.exited ? 0 : other.maxRegisters ? other.maxRegisters : entry;
  bool settled =
      llvm::all_of(t->cta->threads, [](const Thread &o) { return o.maxRegisters || o.exited; });
  if (settled && sum > 65536)
    report(*t, FindingKind::BadOperand, site,
           formatted("after `setmaxnreg`, the CTA needs {} registers of 65536", sum));
}
}

llvm::ArrayRef<Hook> tile::emu::wgmmaHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuWgmma),
                               TILE_HOOK(tileEmuWgmmaFence),
                               TILE_HOOK(tileEmuWgmmaCommit),
                               TILE_HOOK(tileEmuWgmmaWait),
                               TILE_HOOK(tileEmuPin),
                               TILE_HOOK(tileEmuSetMaxRegisters),
                               TILE_HOOK(tileEmuTouchAccumulator)};
  return hooks;
}
