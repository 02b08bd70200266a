//===- Barriers.h - where threads wait for each other ---------------------===//
//
// What is known of each barrier while threads arrive, and what those that pass it learn.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_BARRIERS_H
#define TILE_EMULATOR_MACHINE_BARRIERS_H

#include "emulator/machine/Clock.h"
#include <cstdint>
#include <vector>

namespace tile::emu {

struct Cta;
struct Thread;

using SiteId = uint32_t;

/// `bar.sync` and its relatives.
struct NamedBarrier {
  /// What a warp has brought in this round.
  struct Arrivals {
    uint32_t lanes = 0;
    SiteId site = 0; ///< of the last
    bool aligned = false;
  };
  uint32_t expected = 0, arrived = 0;
  std::vector<Thread *> waiters;
  ClockGathering clock;
  SiteId firstSite = 0; ///< of the first arrival
  Component firstBy = 0;
  std::vector<Arrivals> warps;
  uint32_t votes = 0, trues = 0, read = 0; ///< of a reduction: cast, of them true, and counted by
};

/// In shared memory: counts arrivals, and bytes that copies bring.
struct MBarrier {
  Cta *cta = nullptr;
  uint32_t address = 0; ///< offset in the window
  uint32_t count = 0;
  int64_t pending = 0, transactions = 0;
  uint64_t phase = 0; ///< completed phases
  /// Of arrivals that the CTA's own threads may rely on at any scope, and of those of
  /// other CTAs, which take the scope of the cluster at both ends.
  ClockGathering gathering, farGathering;
  Clock completed, farCompleted; ///< of the last completed phase
  Component lastBy = 0;          ///< the last arrival or copy; 0: it tells nobody that it was
  Tick lastTick = 0;
  Component endedBy = 0; ///< ... of the last completed phase
  Tick endedTick = 0;
  Component component = 0;        ///< of the copies that signal it
  Tick issued = 0, signalled = 0; ///< copies: all so far, all that are over without a gap
  std::vector<Tick> outstanding;
  SiteId initSite = 0;
  Component initBy = 0;
  Tick initTick = 0;
  std::vector<Thread *> waiters;
};

/// `barrier.cluster`.
struct ClusterBarrier {
  uint32_t arrived = 0, ended = 0; ///< in this round; ended: of those that arrived
  std::vector<Thread *> waiters;
  std::vector<bool> hasArrived;
  std::vector<SiteId> unwaited; ///< by thread, its arrival that no wait of its own follows
  ClockGathering clock;
  Clock completed;
  uint64_t phase = 0;
};

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_BARRIERS_H
