//===- FakeCuda.h - a driver for tests on machines without one ------------===//
//
// A shared object that exports what libcuda.so.1 exports (of what we use),
// keeps device memory in host memory, "compiles" PTX by reading its `.entry`
// lines, and records every call. Tests steer it through this struct, found by
// the symbol `fakeCudaControl`. Time is simulated: a launch advances a clock
// that events read, so timing tests are exact.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_FAKECUDA_H
#define TILE_TESTS_FAKECUDA_H

#include "runtime/CudaTypes.h"
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace fakecuda {

struct Launch {
  std::string kernel;
  unsigned grid[3] = {}, block[3] = {}, sharedBytes = 0;
  tile::cuda::Stream stream = nullptr;
  tile::cuda::Context context = nullptr; ///< current at the launch
  unsigned cluster[3] = {0, 0, 0};
  bool hasCluster = false, cooperative = false, dependent = false, captured = false;
  std::vector<std::string> parameters; ///< bytes of each, by the PTX's types
};

/// Counts what many threads do without a line of memory that they share: what is measured over
/// this driver is not how it counts.
class ThreadCount {
public:
  void add(unsigned n) {
    static std::atomic<unsigned> threads = 0;
    thread_local const unsigned mine = threads.fetch_add(1) % kSlots;
    slots[mine].count.fetch_add(n, std::memory_order_relaxed);
  }
  operator unsigned() const {
    unsigned sum = 0;
    for (const Slot &slot : slots)
      sum += slot.count.load(std::memory_order_relaxed);
    return sum;
  }
  void operator=(unsigned n) {
    for (Slot &slot : slots)
      slot.count = 0;
    slots[0].count = n;
  }

private:
  static constexpr unsigned kSlots = 64;
  struct alignas(64) Slot {
    std::atomic<unsigned> count = 0;
  };
  Slot slots[kSlots];
};

struct Control {
  std::mutex mutex;
  // What the driver answers.
  int driverVersion = 12040;
  int maxPtxVersion = 84; ///< `.version` 8.4
  int deviceCount = 1;
  int computeMajor = 9, computeMinor = 0;
  int sharedOptin = 232448;
  int registersPerThread = 32;
  int localBytes = 0, carefulLocalBytes = 0; ///< of a thread; of what is assembled at level 1
  int unboundLocalBytes = -1; ///< of PTX without a bound of one program; -1: as any other
  int residentBlocks = 8;
  int residentClusters = 4;
  size_t memoryBytes = size_t(64) << 20;
  double launchMilliseconds = 0.01;
  std::map<std::string, double> kernelMilliseconds; ///< instead, by kernel
  /// Symbol -> what it returns from now on.
  std::map<std::string, tile::cuda::Result> failures;
  /// The call with this number, of those recorded since the last reset, runs out of memory.
  size_t failingCall = SIZE_MAX;
  /// Called for each launch: the test's kernel.
  std::function<void(const Launch &)> onLaunch;
  /// Calls are not recorded, and launches only counted: for who counts allocations and locks,
  /// or measures.
  std::atomic<bool> quiet = false;
  ThreadCount quietLaunches;

  // What happened.
  std::vector<std::string> calls; ///< symbols, in order
  std::vector<Launch> launches;
  std::vector<int> assemblerLevels;              ///< of each PTX loaded; 0 where none was asked for
  std::map<std::string, int> functionAttributes; ///< "kernel/attribute" -> value
  size_t allocatedBytes = 0;
  // Counted by calls of many threads at once.
  std::atomic<int> liveModules = 0, liveLinks = 0, retainedPrimaries = 0, liveEvents = 0,
                   liveStreams = 0, liveGraphs = 0;
  double clock = 0;            ///< simulated milliseconds
  double fillMilliseconds = 0; ///< of each cuMemsetD8Async

  int numCalls(const std::string &symbol) const {
    int count = 0;
    for (const std::string &call : calls)
      count += call == symbol;
    return count;
  }
  /// Back to the beginning, but for what is alive.
  __attribute__((visibility("default"))) void reset();
};

} // namespace fakecuda

extern "C" fakecuda::Control *fakeCudaControl();
/// A context of the caller's own (as cuCtxCreate would make), made current.
extern "C" tile::cuda::Context fakeCudaCreateContext(int device);
extern "C" void fakeCudaDestroyContext(tile::cuda::Context context);

#endif // TILE_TESTS_FAKECUDA_H
