//===- SortedSums.h - sums of floats that do not depend on the order ------===//
//
// Atomic operations add up floats in the order in which threads come, and each order
// rounds otherwise. Here the terms of each sum are kept, and when the launch is over
// they are added once more in the order of their bits, which is one of the orders
// that the hardware may take: what differs then differs in its terms.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_SORTEDSUMS_H
#define TILE_EMULATOR_MACHINE_SORTEDSUMS_H

#include "emulator/machine/Numbers.h"
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace tile::emu {

class SortedSums {
public:
  /// While it is held, no other sum goes on.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex); }
  /// A term has been added at an address of global memory. Under the lock.
  void add(uint64_t address, AtomicKind kind, unsigned bytes, uint64_t old, uint64_t term,
           uint64_t sum);
  /// Somebody loads or stores: what a sum was so far shows in something else.
  void touch(uint64_t address, uint64_t bytes);
  bool isSeen() const { return seen; }
  /// The launch is over: leaves the sums in memory, but for those that somebody has changed since.
  void finish();

private:
  struct Sum {
    AtomicKind kind;
    unsigned bytes;
    uint64_t first, last; ///< what was there, and what the last term has left
    std::vector<uint64_t> terms;
  };
  std::mutex mutex;
  std::map<uint64_t, Sum> sums; ///< by address
  std::atomic<bool> seen{false};
};

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_SORTEDSUMS_H
