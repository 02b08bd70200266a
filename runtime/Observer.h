//===- Observer.h - what a compile service and its kernels do -------------===//
//
// Counts compilations, look-ups, loads, tunings and launches, tells whoever wants to
// know, and writes a trace that chrome://tracing and Perfetto show. Launches are counted
// in places of their own for different threads, so that counting is no lock in disguise;
// they are only timed where somebody listens.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_OBSERVER_H
#define TILE_RUNTIME_OBSERVER_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace tile::runtime {

struct Event {
  /// As tile_event_kind.
  enum class Kind { Compile = 1, Load = 2, Tune = 3, Launch = 4, Warning = 5, Print = 6 };
  /// As tile_event_source: where a kernel came from.
  enum class Source { None = 0, Compiled = 1, Disk = 2, Shared = 3, File = 4 };
  Kind kind = Kind::Compile;
  Source source = Source::None;
  int status = 0; ///< ErrorCode, 0: it went well
  std::string kernel, variant, key, message;
  double start = 0, duration = 0; ///< microseconds, of the steady clock
};

class Observer {
public:
  using Callback = std::function<void(const Event &)>;
  explicit Observer(Callback callback = {}, const std::string &traceFile = "");
  ~Observer();
  Observer(const Observer &) = delete;
  Observer &operator=(const Observer &) = delete;

  /// Counts an event and passes it on. Any thread.
  void note(const Event &event);
  /// The same for a warning, once for each text.
  void warn(llvm::StringRef text);
  /// Why the trace is not written; empty if it is, or nobody asked.
  const std::string &traceProblem() const { return problem; }

  /// Whether launches are to be timed and noted, not only counted.
  bool wantsLaunches() const { return listens; }
  void countLaunch() { slot().fetch_add(1, std::memory_order_relaxed); }

  enum Counter { Compiled, FailedCompiles, Forbidden, FromDisk, Loads, Tunings, Warnings };
  uint64_t count(Counter counter) const { return counters[counter]; }
  uint64_t launches() const;
  double compileMilliseconds() const { return double(compileMicroseconds) / 1000; }

  static double now() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
  }

private:
  static constexpr unsigned kSlots = 32;
  struct alignas(64) Slot {
    std::atomic<uint64_t> count{0};
  };
  std::atomic<uint64_t> &slot() {
    static std::atomic<unsigned> threads{0};
    thread_local const unsigned mine = threads.fetch_add(1, std::memory_order_relaxed) % kSlots;
    return slots[mine].count;
  }
  void write(const Event &event);

  const Callback callback;
  bool listens;
  std::array<Slot, kSlots> slots;
  std::array<std::atomic<uint64_t>, Warnings + 1> counters{};
  std::atomic<uint64_t> compileMicroseconds{0};
  std::mutex mutex; ///< of all below
  std::FILE *trace = nullptr;
  std::string problem;
  std::set<std::string> warned;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_OBSERVER_H
