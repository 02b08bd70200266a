//===- Report.cpp - progress and tables of tilec run, test and bench ------===//
#include "tools/tilec/Report.h"
#include "frontend/Counted.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tile::host;
using llvm::ArrayRef;
using llvm::raw_ostream;
using llvm::StringRef;
using tile::formatted;
using Status = CaseResult::Status;

/// Failing cases of one function shown in full; the others are only counted.
constexpr unsigned maxShownFailures = 3;

/// "12 ms", "3.4 s": two or three digits that matter.
static std::string duration(double seconds) {
  if (seconds < 0.9995)
    return formatted("{:.0f} ms", seconds * 1e3);
  return formatted("{:.{}f} s", seconds, seconds < 100 ? 1 : 0);
}

/// The point of a number matters less than its magnitude.
static std::string number(double value) {
  if (value == 0)
    return "0";
  int digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return formatted("{:.{}f}", value, digits);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static bool looksLikeNumber(StringRef text) {
  return !text.empty() && (llvm::isDigit(text[0]) || text[0] == '-' || text[0] == '>');
}

void TextTable::print(raw_ostream &os, Paint paint) const {
  std::vector<size_t> widths;
  for (const std::string &title : header)
    widths.push_back(title.size());
  for (auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  auto line = [&](const std::vector<std::string> &cells, bool isHeader) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      // The first column names the row; the others are values.
      bool left = i == 0 || (!isHeader && !looksLikeNumber(cells[i]));
      std::string blank(widths[i] - cells[i].size(), ' ');
      std::string padded = left ? cells[i] + blank : blank + cells[i];
      if (i + 1 == cells.size())
        padded = StringRef(padded).rtrim().str();
      text += (i ? "  " : "") + (paint && !isHeader ? paint(padded) : padded);
    }
    os << StringRef(text).rtrim() << '\n';
  };
  line(header, true);
  for (auto &row : rows)
    line(row, false);
}

static std::string paintStatus(StringRef cell) {
  StringRef text = cell.trim();
  const char *code = text == "PASS"      ? "32"
                     : text == "FAIL"    ? "1;31"
                     : text == "skipped" ? "33"
                                         : nullptr;
  return code ? formatted("\033[{}m{}\033[0m", code, cell) : cell.str();
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

ProgressPrinter::ProgressPrinter() : live(llvm::errs().is_displayed()), color(colorMessages()) {}

void ProgressPrinter::clearLine() {
  if (live)
    llvm::errs() << "\r\033[K";
}

static std::string title(StringRef function, StringRef parameters) {
  return parameters.empty() ? function.str() : formatted("{}({})", function, parameters);
}

void ProgressPrinter::startCase(StringRef function, StringRef parameters, size_t index,
                                size_t total) {
  // Short cases would only flicker.
  auto now = std::chrono::steady_clock::now();
  if (index == 0)
    begin = now;
  if (!live || now - lastUpdate < std::chrono::milliseconds(50))
    return;
  lastUpdate = now;
  constexpr size_t width = 70;
  clearLine();
  std::string text = title(function, parameters);
  llvm::errs() << formatted("[{}/{}] {}", index + 1, total, StringRef(text).take_front(width));
  std::chrono::duration<double> spent = now - begin;
  if (index > 0 && spent.count() > 2)
    llvm::errs() << formatted(", about {} left",
                              duration(spent.count() / double(index) * double(total - index)));
  llvm::errs() << lastResult;
}

/// "; add 0.012 ms", of the case that has just ended.
static std::string shortResult(const CaseResult &result) {
  for (const Measurement &m : result.measurements) {
    std::string label = m.label.empty() ? "" : formatted("{} ", m.label);
    if (m.milliseconds > 0)
      return formatted("; {}{} ms", label, number(m.milliseconds));
    if (m.value)
      return formatted("; {}{} {}", label, number(*m.value), m.unit);
  }
  return "";
}

void ProgressPrinter::finishCase(StringRef function, const CaseResult &result) {
  lastResult = shortResult(result);
  bool failed = result.status == Status::Failed || result.status == Status::Unsupported;
  if (!failed || ++shownFailures > maxShownFailures)
    return;
  clearLine();
  const char *word = result.status == Status::Failed ? "FAIL" : "NOT SUPPORTED";
  llvm::errs() << (color ? "\033[1;31m" : "") << word << (color ? "\033[0m " : " ")
               << title(function, result.parameters) << '\n';
  tile::frontend::DiagnosticEngine diagnostics;
  tile::eval::report(*result.error, diagnostics);
  diagnostics.print(llvm::errs(), color);
}

void ProgressPrinter::finishFunction(const FunctionResult &result) {
  clearLine();
  if (shownFailures > maxShownFailures)
    llvm::errs() << formatted("... and {} more failing cases of {}\n",
                              shownFailures - maxShownFailures, result.name);
  shownFailures = 0;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static std::string verdict(const FunctionResult &result) {
  if (result.count(Status::Failed))
    return "FAIL";
  if (result.count(Status::Unsupported))
    return "not supported";
  if (result.cases.empty())
    return "no cases";
  return result.count(Status::Skipped) == result.cases.size() ? "skipped" : "PASS";
}

FileTotals tilec::totalsOf(StringRef file, ArrayRef<FunctionResult> results) {
  FileTotals all;
  all.file = file.str();
  all.tests = results.size();
  for (const FunctionResult &result : results) {
    all.cases += result.cases.size();
    all.failed += result.count(Status::Failed);
    all.unsupported += result.count(Status::Unsupported);
    all.skipped += result.count(Status::Skipped);
    all.seconds += result.seconds();
    if (result.count(Status::Failed))
      all.failing.push_back(result.name);
  }
  return all;
}

/// "12 cases: 1 failed, 11 passed in 3.4 s".
static void printCases(const FileTotals &all, raw_ostream &os) {
  os << formatted("{}: ", tile::counted(all.cases, "case"));
  if (all.failed)
    os << formatted("{} failed, ", all.failed);
  if (all.unsupported)
    os << formatted("{} not supported, ", all.unsupported);
  if (all.skipped)
    os << formatted("{} skipped, ", all.skipped);
  size_t others = all.failed + all.unsupported + all.skipped;
  os << formatted("{} passed in {}\n", others == 0 ? "all" : std::to_string(all.cases - others),
                  duration(all.seconds));
}

void tilec::printTestTable(ArrayRef<FunctionResult> results, raw_ostream &os, bool color) {
  TextTable table({"test", "cases", "max error", "of limit", "time", ""});
  for (const FunctionResult &result : results) {
    double error = 0, used = 0;
    bool checked = false;
    for (const CaseResult &c : result.cases) {
      error = std::max(error, c.largestError);
      used = std::max(used, c.toleranceUsed);
      checked |= c.checkedAnything;
    }
    unsigned bad = result.count(Status::Failed);
    std::string count = std::to_string(result.cases.size());
    if (bad && result.cases.size() > 1)
      count = formatted("{} of {}", bad, count);
    table.add({result.name, count, checked ? error == 0 ? "0" : formatted("{:.1e}", error) : "",
               !checked      ? ""
               : used > 9.99 ? ">999%"
                             : formatted("{:.0f}%", used * 100),
               duration(result.seconds()), verdict(result)});
  }
  table.print(os, color ? paintStatus : nullptr);
  FileTotals all = totalsOf("", results);
  os << all.tests << (all.tests == 1 ? " test, " : " tests, ");
  printCases(all, os);
}

void tilec::printTotals(ArrayRef<FileTotals> files, raw_ostream &os) {
  FileTotals all;
  os << '\n';
  for (const FileTotals &file : files) {
    if (!file.failing.empty())
      os << formatted("failed in {}: {}\n", file.file, llvm::join(file.failing, ", "));
    all.tests += file.tests;
    all.cases += file.cases;
    all.failed += file.failed;
    all.unsupported += file.unsupported;
    all.skipped += file.skipped;
    all.seconds += file.seconds;
  }
  os << files.size() << (files.size() == 1 ? " file, " : " files, ") << all.tests
     << (all.tests == 1 ? " test, " : " tests, ");
  printCases(all, os);
}

/// The labels of all cases, in order of appearance.
static std::vector<std::string> labelsOf(const FunctionResult &result) {
  std::vector<std::string> labels;
  for (const CaseResult &c : result.cases)
    for (const Measurement &m : c.measurements)
      if (!llvm::is_contained(labels, m.label))
        labels.push_back(m.label);
  return labels;
}

static void printBench(const FunctionResult &result, raw_ostream &os) {
  struct Column {
    std::string label;
    bool time = false, bytes = false, flops = false;
    std::optional<std::string> unit; ///< of what a `perf_report` function returns
  };
  std::vector<Column> columns;
  std::vector<std::string> header = {result.name};
  for (std::string &label : labelsOf(result)) {
    Column column;
    column.label = label;
    for (const CaseResult &c : result.cases)
      for (const Measurement &m : c.measurements)
        if (m.label == label) {
          column.time |= !m.value;
          if (m.value)
            column.unit = m.unit;
          column.bytes |= m.gigabytesPerSecond.has_value();
          column.flops |= m.teraflops.has_value();
        }
    std::string prefix = label.empty() ? "" : formatted("{} ", label);
    if (column.time)
      header.push_back(prefix + "ms");
    if (column.unit)
      header.push_back(column.unit->empty() ? label : prefix + *column.unit);
    if (column.bytes)
      header.push_back(prefix + "GB/s");
    if (column.flops)
      header.push_back(prefix + "TFLOP/s");
    columns.push_back(std::move(column));
  }
  TextTable table(header);
  for (const CaseResult &c : result.cases) {
    if (c.measurements.empty()) // of a case that failed, what was measured before it did
      continue;
    std::vector<std::string> row = {c.parameters};
    for (const Column &column : columns) {
      auto it = llvm::find_if(c.measurements, [&](auto &m) { return m.label == column.label; });
      bool found = it != c.measurements.end();
      if (column.time)
        row.push_back(found ? number(it->milliseconds) : "");
      if (column.unit)
        row.push_back(found && it->value ? number(*it->value) : "");
      if (column.bytes)
        row.push_back(found && it->gigabytesPerSecond ? number(*it->gigabytesPerSecond) : "");
      if (column.flops)
        row.push_back(found && it->teraflops ? number(*it->teraflops) : "");
    }
    table.add(std::move(row));
  }
  if (!table.empty())
    table.print(os, nullptr);
}

void tilec::printBenchTables(ArrayRef<FunctionResult> results, raw_ostream &os) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (i)
      os << '\n';
    printBench(results[i], os);
  }
}
