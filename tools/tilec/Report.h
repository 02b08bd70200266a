//===- Report.h - progress and tables of tilec run, test and bench --------===//
#ifndef TILE_TOOLS_TILEC_REPORT_H
#define TILE_TOOLS_TILEC_REPORT_H

#include "runtime/host/Suite.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace tilec {

/// A table of text: column widths fit the contents, numbers align right.
class TextTable {
public:
  explicit TextTable(std::vector<std::string> header) : header(std::move(header)) {}
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  bool empty() const { return rows.empty(); }
  /// `paint` may wrap a cell for a terminal, after it has been padded.
  using Paint = std::string (*)(llvm::StringRef padded);
  void print(llvm::raw_ostream &os, Paint paint) const;

private:
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// Shows what runs (one line, rewritten, on a terminal) and every failure in
/// full as soon as it happens.
class ProgressPrinter : public tile::host::SuiteObserver {
public:
  ProgressPrinter();
  void startCase(llvm::StringRef function, llvm::StringRef parameters, size_t index,
                 size_t total) override;
  void finishCase(llvm::StringRef function, const tile::host::CaseResult &result) override;
  void finishFunction(const tile::host::FunctionResult &result) override;

private:
  void clearLine();
  bool live; ///< stderr is a terminal
  bool color;
  unsigned shownFailures = 0; ///< of the current function
  std::chrono::steady_clock::time_point lastUpdate, begin;
  std::string lastResult; ///< of a bench: what was measured last
};

/// One line a test, and a line that sums up.
void printTestTable(llvm::ArrayRef<tile::host::FunctionResult> results, llvm::raw_ostream &os,
                    bool color);
/// How the functions of one file came out.
struct FileTotals {
  std::string file;
  size_t tests = 0, cases = 0, failed = 0, unsupported = 0, skipped = 0; ///< cases but for `tests`
  double seconds = 0;
  std::vector<std::string> failing; ///< functions
};
FileTotals totalsOf(llvm::StringRef file, llvm::ArrayRef<tile::host::FunctionResult> results);
/// What failed in which file, and a line that sums up all of them.
void printTotals(llvm::ArrayRef<FileTotals> files, llvm::raw_ostream &os);
/// One table a bench, one line a case.
void printBenchTables(llvm::ArrayRef<tile::host::FunctionResult> results, llvm::raw_ostream &os);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_REPORT_H
