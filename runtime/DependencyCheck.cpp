//===- DependencyCheck.cpp - whether a kept result still holds ------------===//
#include "runtime/DependencyCheck.h"
#include <ctime>
#include <sys/stat.h>

using namespace tile;
using namespace tile::runtime;

/// The times of a file that was changed less than this ago may stay the same when it
/// is changed again: file systems count them in steps, of two seconds at the most.
static constexpr int64_t settledSeconds = 3;

std::optional<DependencyCheck::Stamp> DependencyCheck::stampOf(const std::string &path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status))
    return std::nullopt;
  // Nobody can set the time of the last change of an inode.
  if (std::time(nullptr) - status.st_ctim.tv_sec < settledSeconds)
    return std::nullopt;
  return Stamp{int64_t(status.st_dev), int64_t(status.st_ino), status.st_size,
               status.st_mtim.tv_sec,  status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
               status.st_ctim.tv_nsec};
}

bool DependencyCheck::holds() const {
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = 0; i < dependencies.size(); ++i) {
    // Taken before the file is read: a change in between makes another stamp.
    std::optional<Stamp> stamp = stampOf(dependencies[i].path);
    if (stamp && stamp == stamps[i])
      continue;
    if (frontend::currentState(dependencies[i].path) != dependencies[i].state)
      return false;
    stamps[i] = stamp;
  }
  return true;
}

// Fields end in a zero byte, which no path has.

std::string DependencyCheck::encode() const {
  std::string bytes;
  for (const frontend::Dependency &dependency : dependencies)
    bytes += dependency.state + '\0' + dependency.path + '\0';
  return bytes;
}

std::optional<std::vector<frontend::Dependency>> DependencyCheck::decode(llvm::StringRef bytes) {
  std::vector<frontend::Dependency> dependencies;
  while (!bytes.empty()) {
    size_t state = bytes.find('\0');
    size_t path = state == llvm::StringRef::npos ? state : bytes.find('\0', state + 1);
    if (path == llvm::StringRef::npos)
      return std::nullopt;
    dependencies.push_back({bytes.slice(state + 1, path).str(), bytes.take_front(state).str()});
    bytes = bytes.drop_front(path + 1);
  }
  return dependencies;
}
