//===- BenchResults.h - what tilec bench measured -------------------------===//
//
// Results as they are saved, drawn and compared. `tilec bench -o FILE` writes them as JSON, CSV or
// an HTML report by the ending of FILE.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_BENCHRESULTS_H
#define TILE_TOOLS_TILEC_BENCHRESULTS_H

#include "runtime/host/Suite.h"
#include "llvm/Support/JSON.h"

namespace tilec {

/// One provider in one case.
struct BenchPoint {
  std::string parameters; ///< "n=64, dtype=fp32"
  /// The same by name; numbers as numbers.
  std::vector<std::pair<std::string, std::string>> values;
  tile::host::Measurement measured; ///< its label is the provider
};

struct BenchTable {
  std::string file, name;
  std::vector<BenchPoint> points;
};

struct BenchResults {
  std::string device, description, target;
  std::vector<BenchTable> tables;

  void add(llvm::StringRef file, llvm::ArrayRef<tile::host::FunctionResult> results);
  std::string toJson() const;
  std::string toCsv() const;
  std::string toHtml() const; ///< BenchReport.cpp
  /// By the ending of `path`: .json, .csv, .html; nothing for another one.
  std::optional<std::string> inFormatOf(llvm::StringRef path) const;
  /// Reads what toJson wrote; false after setting `error`.
  static bool read(const std::string &path, BenchResults &out, std::string &error);
};

/// What a number stands for where points are compared or drawn.
struct Metric {
  std::string unit; ///< "ms", "GB/s", "TFLOP/s", or the author's
  bool lessIsBetter = false;
  std::optional<double> (*get)(const tile::host::Measurement &) = nullptr;
};
/// Those that points of a table have, in the order above.
std::vector<Metric> metricsOf(const BenchTable &table);

/// Prints what changed from one result to the other. Times differ by chance: one counts as
/// another where it lies beyond both results' distance from median to least time, and 1 %.
/// True if nothing is slower.
bool compareBenches(const BenchResults &before, const BenchResults &after, llvm::raw_ostream &os);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_BENCHRESULTS_H
