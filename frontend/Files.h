//===- Files.h - reading files, and remembering what was read -------------===//
//
// Every file that takes part in a compilation is read here: regular files of
// bounded size only, so that a device or a pipe under a source's name is an
// error at once. What was read, and what was looked for in vain, decides the
// result as the source itself does: `Dependencies` remembers both.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_FILES_H
#define TILE_FRONTEND_FILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile::frontend {

constexpr uint64_t kMaxSourceBytes = uint64_t(64) << 20;
constexpr uint64_t kMaxLibraryBytes = uint64_t(256) << 20;

/// The bytes of a regular file; nothing, with a sentence in `error`, for anything
/// else and for a file of more than `limit` bytes.
std::optional<std::string> readFile(llvm::StringRef path, uint64_t limit, std::string &error);
/// The same for standard input, whatever that is.
std::optional<std::string> readStandardInput(uint64_t limit, std::string &error);

/// A path and what was found there: a hash of the content, or why there is none.
struct Dependency {
  std::string path; ///< as it was looked for; a relative one means the current folder
  std::string state;
  friend bool operator==(const Dependency &a, const Dependency &b) {
    return a.path == b.path && a.state == b.state;
  }
};

/// The state of a file that has this content.
std::string contentState(llvm::StringRef bytes);
/// The state of what is at `path` now.
std::string currentState(llvm::StringRef path);

/// What one compilation saw of the file system. Of a path that was asked for more
/// than once the first state counts: if another was seen later, the result is of no
/// one moment, and nobody will find this state there again.
class Dependencies {
public:
  void add(llvm::StringRef path, std::string state);
  void addAbsent(llvm::StringRef path);
  void addUnreadable(llvm::StringRef path);
  const std::vector<Dependency> &all() const { return list; }

private:
  std::vector<Dependency> list;
  llvm::StringSet<> known;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_FILES_H
