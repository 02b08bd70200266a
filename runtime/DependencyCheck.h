//===- DependencyCheck.h - whether a kept result still holds --------------===//
//
// A result is kept together with the state of every file that the compilation
// read, and of every place where it looked for one in vain
// (frontend/Files.h). It holds while each of them is as it was, by content. A
// file whose content has been compared is not read again while its inode, size and
// times stay the same, unless it had been changed so shortly before that its times
// could not tell another change. Writes to a page of a mapping that is dirty already move none of
// that: they are not seen (docs/running.md). Only reading every file at every launch would see
// them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DEPENDENCYCHECK_H
#define TILE_RUNTIME_DEPENDENCYCHECK_H

#include "frontend/Files.h"
#include <array>
#include <mutex>
#include <optional>

namespace tile::runtime {

class DependencyCheck {
public:
  explicit DependencyCheck(std::vector<frontend::Dependency> dependencies)
      : dependencies(std::move(dependencies)), stamps(this->dependencies.size()) {}
  /// Any thread.
  bool holds() const;
  const std::vector<frontend::Dependency> &all() const { return dependencies; }

  /// As bytes, for files.
  std::string encode() const;
  static std::optional<std::vector<frontend::Dependency>> decode(llvm::StringRef bytes);

private:
  /// Changes whenever the file does: device, inode, size, times.
  using Stamp = std::array<int64_t, 7>;
  static std::optional<Stamp> stampOf(const std::string &path);

  const std::vector<frontend::Dependency> dependencies;
  mutable std::mutex mutex;
  mutable std::vector<std::optional<Stamp>> stamps; ///< of files found equal
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_DEPENDENCYCHECK_H
