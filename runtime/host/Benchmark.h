//===- Benchmark.h - triton.testing.Benchmark and perf_report -------------===//
#ifndef TILE_RUNTIME_HOST_BENCHMARK_H
#define TILE_RUNTIME_HOST_BENCHMARK_H

#include "runtime/host/Tensor.h"

namespace tile::host {

/// The lines of one plot: the argument that tells them apart, its values and their names.
struct Lines {
  std::string argument, unit;
  std::vector<PyValue> values;
  std::vector<std::string> names;
};

/// One `Benchmark`: where along the x axis, with which lines.
struct BenchmarkPlan {
  std::vector<std::vector<std::pair<std::string, PyValue>>> points; ///< parameters of each
  std::shared_ptr<const Lines> lines;
};

/// `triton.testing.Benchmark(...)`.
Result makeBenchmark(const CallArgs &args);
/// Reads one; an error that says what is wrong with it.
std::unique_ptr<eval::EvalError> readBenchmark(const PyValue &value, BenchmarkPlan &plan);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_BENCHMARK_H
