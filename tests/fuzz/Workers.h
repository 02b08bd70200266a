//===- Workers.h - running cases in processes that may die -----------------===//
#ifndef TILE_TESTS_FUZZ_WORKERS_H
#define TILE_TESTS_FUZZ_WORKERS_H

#include <cstdint>
#include <functional>
#include <string>

namespace tile::fuzz {

struct Limits {
  unsigned seconds = 5;   ///< of processor time for one case
  uint64_t megabytes = 0; ///< of memory a process may have; 0: any
  /// So many times longer it may wait for others, or for a processor.
  unsigned patience = 20;
};

/// What was done in all.
struct Work {
  uint64_t cases = 0; ///< refused and failed ones, too
  uint64_t refused = 0;
  uint64_t through = 0; ///< all cases below this number are among them
  double seconds = 0;   ///< of processor time
  bool interrupted = false;
};

/// Runs one case; empty if it went well. Called in a process of its own, which
/// `prepare` has been called in before.
struct Job {
  std::function<std::string()> prepare; ///< what is wrong, or empty
  std::function<std::string(uint64_t index)> run;
  /// Whether what `run` says is no failure, but a case that cannot be run.
  std::function<bool(const std::string &why)> isRefusal = nullptr;
};

/// Which cases, and when to end.
struct Plan {
  uint64_t count = 1; ///< the cases `0 ... count - 1`
  unsigned processes = 1;
  Limits limits;
  unsigned seconds = 0;                             ///< no case is begun after so long; 0: all are
  uint64_t failures = UINT64_MAX;                   ///< nor after so many
  std::function<void(const Work &)> tell = nullptr; ///< called now and then
};

/// Runs cases. One that crashes, runs too long or needs too much memory fails; the others still
/// run, each once, in a process in which none has failed before: a GPU's context, say, is of no
/// use behind a fault. SIGINT and SIGTERM end the run behind the cases that have begun.
/// `failed` is called in this process. Returns the number of failures, or -1 with `error` if no
/// process could be prepared.
int64_t runCases(const Job &job, const Plan &plan, Work &work,
                 const std::function<void(uint64_t index, const std::string &why)> &failed,
                 std::string &error);

/// Runs one function alone; what went wrong, or empty.
std::string runAlone(const std::function<std::string()> &function, const Limits &limits);

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_WORKERS_H
