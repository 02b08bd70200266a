//===- Async.h - mbarriers and asynchronous work --------------------------===//
#ifndef TILE_EMULATOR_ASYNC_H
#define TILE_EMULATOR_ASYNC_H

#include "emulator/Memory.h"

namespace tile::emu {

//===--- mbarriers (MBarrier.cpp) -----------------------------------------===//

/// The mbarrier at a shared address; abandons the cluster after a report if
/// there is none. `async`: for an asynchronous operation to signal.
MBarrier &findMBarrier(Thread &thread, uint32_t address, SiteId site, bool async = false);
/// Arrivals by a thread that releases what it knows (`clock` may be null).
void arriveAt(MBarrier &barrier, Thread *reporter, uint32_t count, SiteId site);
/// A copy that will signal the barrier: its place in the barrier's order.
struct Signal {
  MBarrier *barrier;
  Tick tick;
};
Signal expectSignal(Thread &thread, MBarrier &barrier);
/// Reports targets of a multicast that the cluster does not have.
void checkTargets(Thread &thread, uint32_t mask, SiteId site);
/// The copy's bytes have come.
void signalBytes(const Signal &signal, uint64_t bytes);

//===--- groups -----------------------------------------------------------===//

/// The component of a thread's groups, made when first used.
Component groupComponent(Thread &thread, AsyncGroups &groups, const char *what);
/// Reports copies and matrix products that a thread started and never waited for.
void checkAsyncAtExit(Thread &thread);
/// ... of its warpgroup.
void checkProductsAtExit(Thread &thread);

/// Adds work that ends at a moment of the schedule's choice.
void startAsync(Cluster &cluster, uint64_t stream, Tick group, std::function<void()> complete);

} // namespace tile::emu

#endif // TILE_EMULATOR_ASYNC_H
