//===- Workers.h - running cases in processes that may die -----------------===//
#ifndef TILE_TESTS_FUZZ_WORKERS_H
#define TILE_TESTS_FUZZ_WORKERS_H

#include <cstdint>
#include <functional>
#include <string>

namespace tile::fuzz {

struct Limits {
  unsigned seconds = 5;   ///< of processor time for one case; it may wait for longer
  uint64_t megabytes = 0; ///< of memory a process may have; 0: any
};

/// What was done in all.
struct Work {
  uint64_t cases = 0;
  double seconds = 0; ///< of processor time
};

/// Runs one case; empty if it went well. Called in a process of its own, which
/// `prepare` has been called in before.
struct Job {
  std::function<std::string()> prepare; ///< what is wrong, or empty
  std::function<std::string(uint64_t index)> run;
};

/// Runs the cases `0 ... count - 1` in `processes` processes. A case that
/// crashes, runs too long or needs too much memory fails; the others still run.
/// `failed` is called in this process. After `seconds`, unless 0, no case is begun.
/// Returns the number of failures, or -1 with `error` if no process could be
/// prepared.
int64_t runCases(const Job &job, uint64_t count, unsigned processes, const Limits &limits,
                 unsigned seconds, Work &work,
                 const std::function<void(uint64_t index, const std::string &why)> &failed,
                 std::string &error);

/// Runs one function alone; what went wrong, or empty.
std::string runAlone(const std::function<std::string()> &function, const Limits &limits);

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_WORKERS_H
