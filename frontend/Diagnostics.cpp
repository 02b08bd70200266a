//===- Diagnostics.cpp - collecting and printing messages -----------------===//
//
// A message is printed as
//
//   file.tile:12:9: error: unknown name `axs`
//     12 |     x = axs + 1
//        |         ^~~
//
// The underline copies the tabs of the line above and counts display columns,
// so it lines up in any terminal; of a very long line only the part around the
// range is shown. Bytes that a terminal might interpret are shown as `?`.
//
//===----------------------------------------------------------------------===//
#include "frontend/MostErrors.h"
#include "frontend/Source.h"
#include "text/Format.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace tile::frontend {

/// Where errors go that nobody is told of; the first of them says so.
static Diagnostic &dropError(std::vector<Diagnostic> &diagnostics, unsigned errors) {
  if (errors == kMostErrors + 1) {
    Diagnostic &more = diagnostics.emplace_back();
    more.message = formatted("there are more than {} errors; these are the first", kMostErrors);
    more.unsupported = true; // whether all are of what is not supported, the others say
  }
  static thread_local Diagnostic dropped;
  return dropped = Diagnostic();
}

Diagnostic &DiagnosticEngine::error(const SourceFile *file, SourceRange range,
                                    std::string message) {
  if (++errors > kMostErrors)
    return dropError(diagnostics, errors);
  return diagnostics.emplace_back(
      Diagnostic{Severity::Error, file, range, std::move(message), {}, false});
}

Diagnostic &DiagnosticEngine::warning(const SourceFile *file, SourceRange range,
                                      std::string message) {
  return diagnostics.emplace_back(
      Diagnostic{Severity::Warning, file, range, std::move(message), {}, false});
}

bool DiagnosticEngine::onlyUnsupported() const {
  return errors != 0 && std::all_of(diagnostics.begin(), diagnostics.end(), [](const auto &d) {
           return d.severity != Severity::Error || d.unsupported;
         });
}

namespace {

constexpr int maxColumns = 140; ///< longer lines are windowed

/// One character of a line as it is shown.
struct Cell {
  uint32_t offset; ///< of its first byte in the line
  std::string text;
  int width;
};

std::vector<Cell> cellsOf(llvm::StringRef line) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < line.size();) {
    auto lead = static_cast<unsigned char>(line[i]);
    unsigned length = lead < 0x80 ? 1 : llvm::getNumBytesForUTF8(lead);
    llvm::StringRef character = line.substr(i, length);
    const auto *bytes = reinterpret_cast<const llvm::UTF8 *>(character.data());
    if (line[i] == '\t') {
      cells.push_back({static_cast<uint32_t>(i), "\t", 1});
    } else if (character.size() == length &&
               llvm::isLegalUTF8Sequence(bytes, bytes + character.size()) &&
               llvm::sys::unicode::columnWidthUTF8(character) >= 0) {
      cells.push_back({static_cast<uint32_t>(i), character.str(),
                       llvm::sys::unicode::columnWidthUTF8(character)});
    } else {
      length = 1;
      cells.push_back({static_cast<uint32_t>(i), "?", 1});
    }
    i += length;
  }
  return cells;
}

/// Restricts `cells` to the part around `focus` (a byte offset); returns
/// whether something was left out before and after.
std::pair<bool, bool> window(std::vector<Cell> &cells, uint32_t focus) {
  if (cells.size() <= maxColumns)
    return {false, false};
  auto at = std::partition_point(cells.begin(), cells.end(),
                                 [&](const Cell &c) { return c.offset < focus; });
  size_t middle = at - cells.begin();
  size_t begin = middle > maxColumns / 3 ? middle - maxColumns / 3 : 0;
  size_t end = std::min(begin + maxColumns, cells.size());
  begin = end - maxColumns;
  bool before = begin != 0, after = end != cells.size();
  cells = {cells.begin() + begin, cells.begin() + end};
  return {before, after};
}

class Printer {
public:
  Printer(llvm::raw_ostream &os, bool color) : os(os), color(color) {}

  void print(const Diagnostic &d, unsigned indent) {
    os.indent(indent);
    if (d.file) {
      SourceFile::LineColumn at = d.file->locate(d.range.begin);
      style("\033[1m");
      os << d.file->name() << ':' << at.line << ':' << at.column << ": ";
      style("\033[0m");
    }
    static constexpr struct {
      const char *label, *style;
    } severities[] = {{"error", "\033[1;31m"}, {"warning", "\033[1;35m"}, {"note", "\033[1;36m"}};
    const auto &severity = severities[static_cast<unsigned>(d.severity)];
    style(severity.style);
    os << severity.label << ": ";
    style("\033[0m");
    style("\033[1m");
    os << d.message;
    style("\033[0m");
    os << '\n';
    if (d.file)
      quote(*d.file, d.range, indent);
    for (const Diagnostic &note : d.notes)
      print(note, indent + 2);
  }

private:
  void style(const char *escape) {
    if (color)
      os << escape;
  }

  void quote(const SourceFile &file, SourceRange range, unsigned indent) {
    SourceFile::LineColumn at = file.locate(range.begin);
    llvm::StringRef line = file.line(at.line);
    uint32_t begin = std::min<uint32_t>(at.column - 1, line.size());
    uint32_t length = range.end > range.begin ? range.end - range.begin : 1;
    // A range over several lines is underlined to the end of its first.
    uint32_t end =
        std::max<uint32_t>(std::min<uint64_t>(uint64_t(begin) + length, line.size()), begin + 1);
    std::vector<Cell> cells = cellsOf(line);
    auto [before, after] = window(cells, begin);

    os.indent(indent) << formatted("{:>5} | ", at.line) << (before ? "..." : "");
    for (const Cell &cell : cells)
      os << cell.text;
    os << (after ? "..." : "") << '\n';

    os.indent(indent) << "      | " << (before ? "   " : "");
    style("\033[1;32m");
    bool started = false;
    for (const Cell &cell : cells) {
      if (cell.offset >= end)
        break;
      if (cell.offset < begin)
        pad(cell);
      else
        underline(cell, started);
    }
    os << (started ? "" : "^");
    style("\033[0m");
    os << '\n';
  }

  void pad(const Cell &cell) {
    if (cell.text == "\t")
      os << '\t';
    else
      os.indent(cell.width);
  }

  void underline(const Cell &cell, bool &started) {
    for (int i = 0; i < std::max(cell.width, started ? 0 : 1); ++i) {
      os << (started ? '~' : '^');
      started = true;
    }
  }

  llvm::raw_ostream &os;
  bool color;
};

} // namespace

void DiagnosticEngine::print(llvm::raw_ostream &os, bool color) const {
  Printer printer(os, color);
  for (const Diagnostic &diagnostic : diagnostics)
    printer.print(diagnostic, 0);
}

std::string DiagnosticEngine::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, /*color=*/false);
  return text;
}

} // namespace tile::frontend
