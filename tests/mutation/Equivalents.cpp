//===- Equivalents.cpp - the list of mutants that are no faults -----------===//
#include "tests/mutation/Equivalents.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::mutation;

/// What a mutation does, and the text of the source line that it does it to, if that is
/// in the file.
static std::pair<std::string, std::string>
whatAndSource(const Mutation &mutation, llvm::StringRef file, llvm::ArrayRef<std::string> lines) {
  auto [what, at] = llvm::StringRef(mutation.where).split(" at ");
  unsigned line = 0;
  if (at.consume_front(file) && at.consume_front(":"))
    at.consumeInteger(10, line);
  what = what.split(":  %").first; // values have numbers, which change
  return {what.str(), line && line <= lines.size() ? ": " + lines[line - 1] : ""};
}

std::vector<Names> tile::mutation::namesOf(llvm::ArrayRef<Mutation> mutations, llvm::StringRef path,
                                           llvm::ArrayRef<std::string> lines,
                                           llvm::StringRef function, unsigned ordinal) {
  llvm::StringRef file = llvm::sys::path::filename(path);
  auto likeness = [](const Mutation &m, const std::pair<std::string, std::string> &text) {
    return m.kind + ": " + text.first + text.second;
  };
  std::map<std::string, unsigned> alike, soFar;
  for (const Mutation &m : mutations)
    ++alike[likeness(m, whatAndSource(m, file, lines))];
  std::vector<Names> all;
  for (const Mutation &m : mutations) {
    auto text = whatAndSource(m, file, lines);
    std::string like = likeness(m, text);
    std::string place = llvm::formatv(" ({0} of {1})", ++soFar[like], alike[like]).str();
    Names &names = all.emplace_back();
    for (const std::string &number : {"#" + std::to_string(ordinal), std::string()})
      for (const std::string &nth : {place, std::string()})
        for (const std::string &source : {text.second, std::string()})
          if (nth.empty() || source == text.second) // which it is counted by
            names.push_back(llvm::formatv("{0}: {1}: {2}{3}: {4}{5}{6}", m.kind, file, function,
                                          number, text.first, nth, source));
  }
  return all;
}

bool Equivalents::read(const std::string &path) {
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!text) {
    llvm::errs() << path << ": " << text.getError().message() << '\n';
    return false;
  }
  for (llvm::StringRef line : llvm::split((*text)->getBuffer(), '\n')) {
    auto [mutant, reason] = line.rsplit(" | ");
    if (line.trim().empty() || line.starts_with("#"))
      continue;
    if (reason.trim().empty()) {
      llvm::errs() << path << ": no reason is given for `" << line << "`\n";
      return false;
    }
    entries[mutant.trim().str()] = {reason.trim().str()};
  }
  return true;
}

void Equivalents::meet(const Names &names) {
  for (const std::string &name : names)
    if (auto entry = entries.find(name); entry != entries.end())
      entry->second.met = true;
}

std::string Equivalents::reasonOf(const Names &names) const {
  for (const std::string &name : names)
    if (auto entry = entries.find(name); entry != entries.end())
      return entry->second.reason;
  return "";
}

std::vector<std::string> Equivalents::stale(llvm::StringRef path) const {
  std::vector<std::string> result;
  for (const auto &[name, entry] : entries)
    if (!entry.met && llvm::StringRef(name).split(": ").second.split(": ").first ==
                          llvm::sys::path::filename(path))
      result.push_back(name);
  return result;
}
