//===- Async.h - mbarriers and asynchronous work --------------------------===//
#ifndef TILE_EMULATOR_MACHINE_ASYNC_H
#define TILE_EMULATOR_MACHINE_ASYNC_H

#include "emulator/machine/Memory.h"

namespace tile::emu {

//===--- mbarriers (MBarrier.cpp) -----------------------------------------===//

/// Reports an access to bytes of an mbarrier that is not one of its own instructions: the
/// machine keeps its state where no load or store sees it, and may write it back at any time.
void checkNoMBarrier(Thread &thread, const Cta &cta, uint32_t offset, uint32_t bytes, SiteId site,
                     const char *what);

/// The mbarrier at a shared address; abandons the cluster after a report if
/// there is none. `async`: for an asynchronous operation to signal.
MBarrier &findMBarrier(Thread &thread, uint32_t address, SiteId site, bool async = false);
/// Arrivals of a thread, with what it knew; `tick` is what it has released, 0 if nothing.
void arriveAt(MBarrier &barrier, Thread &thread, const Clock &clock, Tick tick, uint32_t count,
              SiteId site);
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

//===--- bulk stores (BulkStores.cpp) --------------------------------------===//

/// Enters a bulk store into the open group of the thread. `write` moves the bytes,
/// which have been read from shared memory, to the rows of global memory.
void startBulkStore(Thread &thread, const SharedRange &from, uint32_t bytes, const char *what,
                    StoreInFlight store, std::function<void(const uint8_t *bytes)> write);
/// Waits until all but `allowed` groups have read their sources, and, unless that
/// is enough, have written.
void waitForBulkStores(Thread &thread, uint32_t allowed, bool untilRead);
/// Reports an access to global memory that a bulk store may still be writing.
void checkStoresInFlight(Thread &thread, uint64_t address, uint64_t bytes, uint32_t access,
                         SiteId site);

/// The stream of what a thread's groups write to global memory, with their component.
constexpr uint64_t kWrites = uint64_t(1) << 32;

//===--- groups -----------------------------------------------------------===//

/// The component of a thread's groups, made when first used.
Component groupComponent(Thread &thread, AsyncGroups &groups, const char *what);
/// Waits until at most `allowed` groups are under way.
void waitForGroups(Thread &thread, AsyncGroups &groups, uint32_t allowed);
/// Reports copies and matrix products that a thread started and never waited for.
void checkAsyncAtExit(Thread &thread);
/// ... of its warpgroup.
void checkProductsAtExit(Thread &thread);

/// Adds work that ends at a moment of the schedule's choice.
void startAsync(Cluster &cluster, uint64_t stream, Tick group, std::function<void()> complete);

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_ASYNC_H
