//===- Source.h - source buffers, ranges and diagnostics ------------------===//
//
// Every AST node and every op keeps a range into a source buffer. A diagnostic
// names a range; the engine collects them and the printer quotes the line and
// underlines the range.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SOURCE_H
#define TILE_FRONTEND_SOURCE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tile::frontend {

/// Byte offsets [begin, end) into the text of one source file.
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool empty() const { return begin == end; }
  friend bool operator==(SourceRange a, SourceRange b) {
    return a.begin == b.begin && a.end == b.end;
  }
};

/// A file's name and text, with a line table. Owns its text.
class SourceFile {
public:
  SourceFile(std::string name, std::string text);
  /// Reads a file (Files.h), or standard input for `-`; on failure returns null and
  /// sets `error` to a sentence.
  static std::unique_ptr<SourceFile> open(llvm::StringRef path, std::string &error);

  llvm::StringRef name() const { return fileName; }
  llvm::StringRef text() const { return contents; }
  struct LineColumn {
    uint32_t line;   ///< from 1
    uint32_t column; ///< from 1, in bytes
  };
  LineColumn locate(uint32_t offset) const;
  /// The text of line `line` (from 1) without its end.
  llvm::StringRef line(uint32_t line) const;
  uint32_t numLines() const { return lineStarts.size(); }
  /// The offset of a line and column (both from 1).
  uint32_t offsetOf(uint32_t line, uint32_t column) const;

private:
  std::string fileName;
  std::string contents;
  std::vector<uint32_t> lineStarts;
};

enum class Severity { Error, Warning, Note };

/// One message about one place. Style: lower case start, no full stop,
/// `backticked` code, the situation seen and what would work.
struct Diagnostic {
  Severity severity = Severity::Error;
  const SourceFile *file = nullptr; ///< may be null: the message stands alone
  SourceRange range;
  std::string message;
  std::vector<Diagnostic> notes; ///< call chain, other place, suggestion
  bool unsupported = false;      ///< well-formed, but not supported yet (exit code 3)
};

/// Collects diagnostics in order. A reference to one is valid until the next is
/// added.
class DiagnosticEngine {
public:
  Diagnostic &error(const SourceFile *file, SourceRange range, std::string message);
  Diagnostic &warning(const SourceFile *file, SourceRange range, std::string message);
  bool hasErrors() const { return errors != 0; }
  unsigned numErrors() const { return errors; }
  /// True if there are errors and every one is an unsupported feature.
  bool onlyUnsupported() const;
  const std::vector<Diagnostic> &all() const { return diagnostics; }
  /// `file:line:col: error: message`, the quoted line, a caret range; notes
  /// below. ANSI colour if `color`.
  void print(llvm::raw_ostream &os, bool color) const;
  std::string str() const; ///< print() without colour

  /// Keeps what owns the files that diagnostics point into alive with them.
  void retain(std::shared_ptr<const void> owner) { owners.push_back(std::move(owner)); }

private:
  std::vector<std::shared_ptr<const void>> owners;
  std::vector<Diagnostic> diagnostics;
  unsigned errors = 0;
};

/// The candidate nearest to `name` by edit distance, if near enough to be a
/// likely misspelling; empty otherwise.
llvm::StringRef nearestName(llvm::StringRef name, const std::vector<llvm::StringRef> &candidates);

} // namespace tile::frontend

#endif // TILE_FRONTEND_SOURCE_H
