//===- LoadsInFlight.cpp - loads from shared memory that have not come ----===//
#include "emulator/machine/LoadsInFlight.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Machine.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile::emu;
using tile::formatted;

/// So many are kept of a warp: values that nobody uses for long are forgotten.
static constexpr size_t kMostLoads = 1 << 14;

void tile::emu::passLoads(Thread &t) {
  LoadsInFlight &warp = t.warp->loads;
  for (LoadInFlight &load : warp.loads) {
    if (load.passed || !load.cta->liveThreads)
      continue;
    if (!warp.component)
      warp.component = t.cluster->newComponent(
          formatted("warp {} of CTA {}, whose arrival does not wait for what it loads",
                    t.warp->index, t.cta->rank));
    load.passed = ++warp.passed;
    load.cta->shadow->passedRead(load.offset, load.bytes,
                                 Event(warp.component, load.passed, load.site, /*async=*/false));
  }
}

/// Those that `isOver` tells have come, as the thread knows now.
template <typename IsOver> static void land(Thread &t, IsOver isOver) {
  LoadsInFlight &warp = t.warp->loads;
  llvm::erase_if(warp.loads, [&](const LoadInFlight &load) {
    if (!isOver(load))
      return false;
    warp.over = std::max(warp.over, load.passed);
    return true;
  });
  if (warp.over)
    t.clock.generic = with(t.clock.generic, warp.component, warp.over);
}

void tile::emu::waitForLoads(Thread &t) {
  land(t, [&](const LoadInFlight &load) { return load.lane == t.lane; });
}

extern "C" {

/// A load of `bytes`, by the first `lanes` lanes of the warp.
void tileEmuLoadBegins(Thread *t, uint32_t address, uint32_t bytes, uint32_t number, uint32_t lanes,
                       uint32_t site) {
  uint32_t rank = address >> kSharedRankShift, offset = address & kSharedOffsetMask;
  if (t->lane >= lanes || rank >= t->cluster->ctas.size())
    return;
  Cta &cta = t->cluster->ctas[rank];
  if (!cta.shadow || offset > cta.sharedBytes || bytes > cta.sharedBytes - offset)
    return; // the access itself reports what is wrong
  std::vector<LoadInFlight> &loads = t->warp->loads.loads;
  if (loads.size() >= kMostLoads)
    loads.erase(loads.begin(), loads.begin() + kMostLoads / 2);
  loads.push_back({number, t->lane, &cta, offset, bytes, site});
}

/// Something waits for the values of loads `first` to `last`.
void tileEmuLoadsEnd(Thread *t, uint32_t first, uint32_t last) {
  land(*t, [&](const LoadInFlight &load) { return load.number - first <= last - first; });
}
}

llvm::ArrayRef<Hook> tile::emu::loadHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuLoadBegins), TILE_HOOK(tileEmuLoadsEnd)};
  return hooks;
}
