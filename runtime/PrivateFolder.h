//===- PrivateFolder.h - files that only this user can have written -------===//
//
// What a cache on disk may believe. A folder counts if it belongs to this user and
// nobody else may write to it; a file in it, if it is a regular one of which the
// same holds. Everything is checked on what was opened, not on what a name meant a
// moment before, and nothing that is opened can make the reader wait.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_PRIVATEFOLDER_H
#define TILE_RUNTIME_PRIVATEFOLDER_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tile::runtime {

/// Held until it is destroyed, or its process ends in any way.
class FileLock {
public:
  FileLock() = default;
  explicit FileLock(int fd) : fd(fd) {}
  FileLock(FileLock &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  FileLock &operator=(FileLock &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~FileLock();
  explicit operator bool() const { return fd >= 0; }

private:
  int fd = -1;
};

class PrivateFolder {
public:
  /// The folder at `path`, through links; made (0700, with what is above it) if it
  /// is not there and `make` is set. If it cannot be had, `problem` says why; it stays
  /// empty for a folder that is only missing.
  static PrivateFolder open(const std::string &path, bool make, std::string &problem);
  /// The same for a folder that is only read: it, and what is in it, may be root's.
  static PrivateFolder openShared(const std::string &path, std::string &problem);
  /// A folder in this one, not through links.
  PrivateFolder inside(const std::string &name, bool make, std::string &problem) const;

  PrivateFolder() = default;
  PrivateFolder(PrivateFolder &&other) noexcept
      : fd(std::exchange(other.fd, -1)), isShared(other.isShared) {}
  PrivateFolder &operator=(PrivateFolder &&other) noexcept {
    std::swap(fd, other.fd);
    std::swap(isShared, other.isShared);
    return *this;
  }
  ~PrivateFolder();
  explicit operator bool() const { return fd >= 0; }

  enum class Found { Nothing, Refused, File };
  /// The bytes of a file. Refused: another user's or writable by others, no regular
  /// file, of more than `limit` bytes, or unreadable.
  Found read(const std::string &name, uint64_t limit, std::string &bytes) const;
  /// Writes aside (0600) and renames into place.
  std::error_code write(const std::string &name, llvm::StringRef bytes) const;
  void remove(const std::string &name) const;
  /// Whether a process is at `write` with this file; nothing: that cannot be known here.
  std::optional<bool> isBeingWritten(const std::string &name) const;
  /// The lock with this number, of those that a file stands for; the file stays empty. Waits for
  /// another holder so long at the most. There may be none to be had: nobody may rely on it.
  FileLock lock(const std::string &name, uint64_t number, unsigned milliseconds) const;

  struct Entry {
    std::string name;
    uint64_t bytes;
    int64_t lastUse; ///< seconds since 1970: when it was written or last read
  };
  /// All but folders, in no order.
  std::vector<Entry> entries() const;

private:
  static PrivateFolder trusted(int fd, bool isShared, std::string &problem);
  int fd = -1;
  bool isShared = false; ///< root's count as ours, and nothing is written
};

/// How the files that `write` makes are named before they are renamed.
constexpr llvm::StringLiteral kAsideEnding = ".tmp";

} // namespace tile::runtime

#endif // TILE_RUNTIME_PRIVATEFOLDER_H
