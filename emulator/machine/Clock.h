//===- Clock.h - what a thread knows has happened -------------------------===//
//
// Vector clocks. Everything that acts on memory is a component: each thread,
// and each stream of asynchronous work (an mbarrier's copies, a thread's groups
// of copies, a warpgroup's matrix multiplies). A component counts ticks; a
// clock holds, for each component, the last tick that is known to be over.
//
// There are three such vectors. `generic` orders accesses through the generic
// proxy. `async` holds what has also passed a proxy fence, which is what an
// asynchronous operation may rely on. `over` holds what has been performed, while
// what it wrote need not be visible: an arrival of CTA scope at another CTA's barrier
// frees a buffer that has been read, and hands over nothing.
//
// Vectors are immutable and shared: after a barrier all threads hold the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_CLOCK_H
#define TILE_EMULATOR_MACHINE_CLOCK_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tile::emu {

using Component = uint32_t;
using Tick = uint32_t;

/// Not thread-safe: a cluster and all its clocks belong to one host thread.
class TickVector : public llvm::RefCountedBase<TickVector> {
public:
  std::vector<Tick> ticks;
};
using TickVectorRef = llvm::IntrusiveRefCntPtr<TickVector>;

inline Tick tickOf(const TickVectorRef &v, Component c) {
  return v && c < v->ticks.size() ? v->ticks[c] : 0;
}

namespace detail {
/// Threads of a warp compute the same clocks, one after another. Sharing the result
/// also tells later that they are the same. What is held here names no other.
struct Remembered {
  TickVectorRef a, b, result;
  uint64_t more = 0;
};
inline Remembered &remembered(const TickVectorRef &a, const TickVectorRef &b, uint64_t more) {
  static thread_local Remembered table[16];
  uint64_t key = reinterpret_cast<uint64_t>(a.get()) + 3 * reinterpret_cast<uint64_t>(b.get());
  return table[(key / 16 + more) % 16];
}

inline TickVectorRef computeJoin(const TickVectorRef &a, const TickVectorRef &b) {
  bool aCovers = true, bCovers = true;
  size_t n = std::max(a->ticks.size(), b->ticks.size());
  for (size_t c = 0; c < n; ++c) {
    Tick x = tickOf(a, Component(c)), y = tickOf(b, Component(c));
    aCovers &= x >= y;
    bCovers &= y >= x;
  }
  if (aCovers || bCovers)
    return aCovers ? a : b;
  TickVectorRef sum(new TickVector);
  sum->ticks.resize(n);
  for (size_t c = 0; c < n; ++c)
    sum->ticks[c] = std::max(tickOf(a, Component(c)), tickOf(b, Component(c)));
  return sum;
}
} // namespace detail

/// The later of two clocks, sharing one of them where it covers the other.
inline TickVectorRef join(const TickVectorRef &a, const TickVectorRef &b) {
  if (!b || a == b)
    return a;
  if (!a)
    return b;
  detail::Remembered &r = detail::remembered(a, b, 0);
  if (r.a != a || r.b != b)
    r = {a, b, detail::computeJoin(a, b), 0};
  return r.result;
}

/// `v` with one component moved on.
inline TickVectorRef with(const TickVectorRef &v, Component c, Tick tick) {
  if (tickOf(v, c) >= tick)
    return v;
  uint64_t more = uint64_t(c) << 32 | tick; // a tick is never 0
  detail::Remembered &r = detail::remembered(v, nullptr, more);
  if (r.a == v && !r.b && r.more == more)
    return r.result;
  TickVectorRef copy(v ? new TickVector(*v) : new TickVector);
  if (copy->ticks.size() <= c)
    copy->ticks.resize(c + 1);
  copy->ticks[c] = tick;
  r = {v, nullptr, copy, more};
  return copy;
}

struct Clock {
  TickVectorRef generic, async;
  TickVectorRef over; ///< beyond `generic`
  void acquire(const Clock &other) {
    generic = join(generic, other.generic);
    async = join(async, other.async);
    over = join(over, other.over);
  }
  bool knows(Component c, Tick tick) const { return tickOf(generic, c) >= tick; }
  bool knowsOver(Component c, Tick tick) const { return knows(c, tick) || tickOf(over, c) >= tick; }
};

/// The join of many clocks, each with its owner's own tick, without a copy for
/// each: what a barrier computes.
class ClockGathering {
public:
  void add(const Clock &clock, Component owner, Tick tick) {
    addVector(generic, lastGeneric, clock.generic);
    addVector(async, lastAsync, clock.async);
    addVector(over, lastOver, clock.over);
    addTick(generic, owner, tick);
  }
  /// Only that it is over.
  void addOver(const Clock &clock, Component owner, Tick tick) {
    TickVectorRef none;
    addVector(over, none, clock.generic);
    addVector(over, lastOver, clock.over);
    addTick(over, owner, tick);
  }
  Clock take() {
    Clock clock;
    clock.generic = pack(generic);
    clock.async = pack(async);
    clock.over = pack(over);
    lastGeneric = lastAsync = lastOver = nullptr;
    return clock;
  }

private:
  static void addVector(std::vector<Tick> &sum, TickVectorRef &last, const TickVectorRef &v) {
    if (!v || v == last)
      return;
    last = v; // held, so that its address names no other
    if (sum.size() < v->ticks.size())
      sum.resize(v->ticks.size());
    for (size_t c = 0; c < v->ticks.size(); ++c)
      sum[c] = std::max(sum[c], v->ticks[c]);
  }
  static void addTick(std::vector<Tick> &sum, Component owner, Tick tick) {
    if (sum.size() <= owner)
      sum.resize(owner + 1);
    sum[owner] = std::max(sum[owner], tick);
  }
  static TickVectorRef pack(std::vector<Tick> &sum) {
    if (sum.empty())
      return nullptr;
    TickVectorRef v(new TickVector);
    v->ticks = std::move(sum);
    sum.clear();
    return v;
  }
  std::vector<Tick> generic, async, over;
  TickVectorRef lastGeneric, lastAsync, lastOver;
};

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_CLOCK_H
