//===- Clock.h - what a thread knows has happened -------------------------===//
//
// Vector clocks. Everything that acts on memory is a component: each thread,
// and each stream of asynchronous work (an mbarrier's copies, a thread's groups
// of copies, a warpgroup's matrix multiplies). A component counts ticks; a
// clock holds, for each component, the last tick that is known to be over.
//
// There are two such vectors. `generic` orders accesses through the generic
// proxy. `async` holds what has also passed a proxy fence, which is what an
// asynchronous operation may rely on.
//
// Vectors are immutable and shared: after a barrier all threads hold the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_CLOCK_H
#define TILE_EMULATOR_CLOCK_H

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

/// The later of two clocks, sharing one of them where it covers the other.
inline TickVectorRef join(const TickVectorRef &a, const TickVectorRef &b) {
  if (!b || a == b)
    return a;
  if (!a)
    return b;
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

/// `v` with one component moved on.
inline TickVectorRef with(const TickVectorRef &v, Component c, Tick tick) {
  if (tickOf(v, c) >= tick)
    return v;
  TickVectorRef copy(v ? new TickVector(*v) : new TickVector);
  if (copy->ticks.size() <= c)
    copy->ticks.resize(c + 1);
  copy->ticks[c] = tick;
  return copy;
}

struct Clock {
  TickVectorRef generic, async;
  void acquire(const Clock &other) {
    generic = join(generic, other.generic);
    async = join(async, other.async);
  }
};

/// The join of many clocks, each with its owner's own tick, without a copy for
/// each: what a barrier computes.
class ClockGathering {
public:
  void add(const Clock &clock, Component owner, Tick tick) {
    addVector(generic, lastGeneric, clock.generic);
    addVector(async, lastAsync, clock.async);
    if (generic.size() <= owner)
      generic.resize(owner + 1);
    generic[owner] = std::max(generic[owner], tick);
  }
  Clock take() {
    Clock clock;
    clock.generic = pack(generic);
    clock.async = pack(async);
    lastGeneric = lastAsync = nullptr;
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
  static TickVectorRef pack(std::vector<Tick> &sum) {
    if (sum.empty())
      return nullptr;
    TickVectorRef v(new TickVector);
    v->ticks = std::move(sum);
    sum.clear();
    return v;
  }
  std::vector<Tick> generic, async;
  TickVectorRef lastGeneric, lastAsync;
};

} // namespace tile::emu

#endif // TILE_EMULATOR_CLOCK_H
