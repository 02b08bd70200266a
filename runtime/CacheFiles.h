//===- CacheFiles.h - the disk cache as people look after it --------------===//
//
// Lists, checks, thins out, packs and unpacks the entries of a cache folder. Works beside
// processes that use it: an entry is removed or put in place whole, as they do it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_CACHEFILES_H
#define TILE_RUNTIME_CACHEFILES_H

#include "runtime/Cache.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace tile::runtime {

struct CacheFile {
  enum class State { Good, Damaged, Refused, Abandoned };
  std::string shard, name; ///< folder and file
  State state = State::Good;
  std::string key;     ///< of good ones
  std::string kind;    ///< "kernel", "tuning"
  std::string kernel;  ///< what it is an entry of
  std::string variant; ///< what that was compiled for
  bool hasMachineCode = false;
  uint64_t bytes = 0;
  int64_t lastUse = 0; ///< seconds since 1970
};

class CacheFiles {
public:
  /// The error of a folder that cannot be believed; one that is not there is empty.
  static llvm::Expected<CacheFiles> open(const std::string &path);

  /// Every file in it, opened and checked, sorted by kernel and key.
  std::vector<CacheFile> list() const;
  void remove(const CacheFile &file) const;

  struct Pruning {
    int64_t olderThanSeconds = -1;   ///< removes what was not used for so long; -1: nothing
    uint64_t mostBytes = UINT64_MAX; ///< removes what was not used for longest until it fits
  };
  struct Removed {
    size_t files = 0;
    uint64_t bytes = 0;
  };
  /// Removes what is damaged and what ended processes left, too.
  Removed prune(const Pruning &pruning) const;
  /// Removes every entry.
  Removed clear() const;

  /// All good entries as one text.
  std::string pack(size_t &count) const;
  /// Puts the entries of such a text into the cache; those that are there stay. Nothing of
  /// a text that is not whole.
  llvm::Expected<size_t> unpack(llvm::StringRef archive) const;

private:
  explicit CacheFiles(std::string path) : path(std::move(path)) {}
  CacheFile examine(const PrivateFolder &shard, const std::string &shardName,
                    const PrivateFolder::Entry &entry, std::string *bytes = nullptr) const;
  bool isLeftBehind(const CacheFile &file, int64_t now) const;
  void forEach(llvm::function_ref<void(const PrivateFolder &, const std::string &,
                                       const PrivateFolder::Entry &)>
                   visit) const;
  std::string path;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_CACHEFILES_H
