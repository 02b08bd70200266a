//===- Source.cpp - source buffers and name suggestions -------------------===//
#include "frontend/Source.h"
#include "frontend/Files.h"
#include "text/Format.h"
#include <algorithm>

namespace tile::frontend {

SourceFile::SourceFile(std::string name, std::string text)
    : fileName(std::move(name)), contents(std::move(text)) {
  // A byte order mark says nothing in UTF-8; without it columns are right.
  if (llvm::StringRef(contents).starts_with("\xEF\xBB\xBF"))
    contents.erase(0, 3);
  lineStarts.push_back(0);
  // Searched for one by one: nearly no file has returns, and a search is quick.
  size_t newline = contents.find('\n'), carriage = contents.find('\r');
  while (newline != std::string::npos || carriage != std::string::npos) {
    size_t end = std::min(newline, carriage) + 1;
    if (end - 1 == newline || end != newline) // a return before a newline is part of it
      lineStarts.push_back(static_cast<uint32_t>(end));
    (end - 1 == newline ? newline : carriage) =
        contents.find(end - 1 == newline ? '\n' : '\r', end);
  }
}

std::unique_ptr<SourceFile> SourceFile::open(llvm::StringRef path, std::string &error) {
  bool isInput = path == "-";
  std::optional<std::string> text =
      isInput ? readStandardInput(kMaxSourceBytes, error) : readFile(path, kMaxSourceBytes, error);
  if (!text)
    return nullptr;
  if (llvm::StringRef(*text).contains('\0')) {
    error = formatted("cannot read `{}`: it is not text", path);
    return nullptr;
  }
  return std::make_unique<SourceFile>(isInput ? "<stdin>" : path.str(), std::move(*text));
}

SourceFile::LineColumn SourceFile::locate(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, contents.size());
  auto after = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  auto line = static_cast<uint32_t>(after - lineStarts.begin());
  return {line, offset - lineStarts[line - 1] + 1};
}

llvm::StringRef SourceFile::line(uint32_t line) const {
  if (line == 0 || line > lineStarts.size())
    return {};
  uint32_t begin = lineStarts[line - 1];
  uint32_t end = line < lineStarts.size() ? lineStarts[line] : contents.size();
  return llvm::StringRef(contents).slice(begin, end).rtrim("\r\n");
}

uint32_t SourceFile::offsetOf(uint32_t line, uint32_t column) const {
  if (line == 0)
    return 0;
  if (line > lineStarts.size())
    return contents.size();
  return std::min<uint32_t>(lineStarts[line - 1] + (column ? column - 1 : 0), contents.size());
}

/// Letters inserted, left out, replaced, or swapped with their neighbour: what
/// fingers do. (Each letter takes part in one swap at most.)
static unsigned typingDistance(llvm::StringRef a, llvm::StringRef b) {
  std::vector<unsigned> beforeLast, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.size()];
}

llvm::StringRef nearestName(llvm::StringRef name, const std::vector<llvm::StringRef> &candidates) {
  // A third of the letters may differ; short names must be very close.
  unsigned best = (name.size() + 2) / 3;
  if (name.size() > 64)
    return {};
  llvm::StringRef found;
  for (llvm::StringRef candidate : candidates) {
    if (candidate == name || candidate.empty())
      continue;
    if (candidate.equals_insensitive(name))
      return candidate;
    size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) > best)
      continue;
    unsigned distance = typingDistance(name, candidate);
    // Among equals the first candidate wins, so the order of declaration decides.
    bool everyLetterChanged = distance >= longer;
    if (distance <= best && !everyLetterChanged && (found.empty() || distance < best)) {
      found = candidate;
      best = distance;
    }
  }
  return found;
}

} // namespace tile::frontend
