//===- GlobalOrder.h - what orders the programs of a grid ------------------===//
//
// Clusters run side by side, and only atomic operations, strong accesses and fences
// whose scope reaches from one to the other put what they do to global memory in
// order. Here a cluster is one actor: what its threads owe each other is GlobalShadow's matter.
//
// A cluster counts epochs, one for each release; what it knows is the last epoch of
// each other cluster that is over. For each byte of global memory the last write and
// one read are kept.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_GLOBALORDER_H
#define TILE_EMULATOR_MACHINE_GLOBALORDER_H

#include "emulator/Emulator.h"
#include "llvm/ADT/DenseMap.h"
#include <atomic>
#include <mutex>

namespace tile::emu {

struct Cluster;
struct Thread;

/// Of clusters, by number.
using Epochs = llvm::DenseMap<uint32_t, uint32_t>;

/// A cluster's part in the order of a grid.
struct ClusterOrder {
  uint32_t epoch = 1;  ///< of what it does now
  uint32_t fenced = 0; ///< the last one before a fence
  Epochs known, seen;  ///< seen: by relaxed accesses, for the next fence to acquire
};

class GlobalOrder {
public:
  explicit GlobalOrder(llvm::ArrayRef<MemoryRange> memory);
  ~GlobalOrder();
  GlobalOrder(const GlobalOrder &) = delete;
  static constexpr uint64_t kMaxClusters = 1 << 18;

  /// Checks an access that lies in one buffer against those before it, and enters it.
  void touch(Thread &thread, uint64_t address, uint64_t bytes, uint32_t access, uint32_t site);
  /// A strong access to an address: before it, what it releases...
  void publish(Cluster &cluster, uint64_t address, uint32_t access);
  /// ... after it, what it acquires.
  void observe(Cluster &cluster, uint64_t address, uint32_t access);
  static void fence(ClusterOrder &order);

private:
  using Slot = std::atomic<uint64_t>;
  struct Range {
    MemoryRange memory;
    Slot *writes = nullptr, *reads = nullptr;
  };
  std::vector<Range> ranges; ///< by address
  std::mutex mutex;
  llvm::DenseMap<uint64_t, Epochs> words;
};

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_GLOBALORDER_H
