//===- Cache.h - the disk cache -------------------------------------------===//
//
// One file an entry, named by the content hash of everything that decides its
// contents. The rules that make it safe under many processes and threads:
//
//   1. An entry is written aside and renamed into place, so a reader sees all
//      of it or none.
//   2. A file holds its own key and a checksum. What does not match to the
//      byte (damaged, cut short, another version's, another key's) counts as
//      absent and is replaced; it is never trusted.
//   3. Only what this user wrote counts: folders and files of others, or that
//      others may write to, are left alone (PrivateFolder.h).
//   4. The folder does not grow without bound: an entry that is stored makes room
//      by removing those that were not used for longest.
//   5. Nothing here is an error to the user: an unwritable folder means that
//      nothing is kept. `warning()` says so once, for whoever wants to print it.
//
// File: "TILECACH" | format version u32 | BLAKE3 of all that follows (32 bytes)
//       | key length u32, key | sections u32 | each: name length u32, name,
//       data length u64, data. Little-endian.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_CACHE_H
#define TILE_RUNTIME_CACHE_H

#include "compiler/Compiler.h"
#include "runtime/PrivateFolder.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace tile::runtime {

/// Hashes fields so that no two lists of fields give the same bytes: each is
/// preceded by its length.
class KeyBuilder {
public:
  /// `kind` keeps keys of different uses apart ("kernel", "tune").
  explicit KeyBuilder(llvm::StringRef kind);
  KeyBuilder &add(llvm::StringRef field);
  KeyBuilder &add(int64_t field);
  /// 64 hexadecimal digits.
  std::string finish();

private:
  llvm::BLAKE3 hasher;
};

/// The key of a compilation: what is known before it starts, that is the source with
/// its name (imports are looked for beside it, and messages and line numbers name
/// it), every option, and the compiler's version. Other files that it will read are
/// checked where a result is kept (DependencyCheck.h).
std::string kernelKey(const frontend::SourceFile &source, const CompileOptions &options);

/// Hash of a text alone, in hexadecimal.
std::string contentHash(llvm::StringRef text);

struct CacheEntry {
  std::map<std::string, std::string> sections; ///< name -> bytes
};

constexpr uint64_t kDiskCacheBytes = uint64_t(1) << 30;

class DiskCache {
public:
  /// An empty folder name: no cache; every look-up misses. `limit` is of all entries
  /// together, and holds in each of 256 folders for its share.
  /// `shared` is looked into behind it, and never written.
  explicit DiskCache(std::string folder = "", uint64_t limit = kDiskCacheBytes,
                     std::string shared = "")
      : folder(std::move(folder)), shared(std::move(shared)), limit(limit) {}

  bool enabled() const { return !folder.empty() || !shared.empty(); }
  const std::string &path() const { return folder; }
  /// The file that holds, or would hold, an entry.
  std::string fileFor(llvm::StringRef key) const;

  /// `fromShared` (may be null) becomes whether it was found in the shared folder.
  std::optional<CacheEntry> lookup(llvm::StringRef key, bool *fromShared = nullptr);
  /// Keeps an entry if it can. Replaces what is there.
  void store(llvm::StringRef key, const CacheEntry &entry);
  /// A turn at making an entry: of several processes that miss it, one makes it, and the others
  /// find it when their turns come. Who has waited long goes on without one.
  FileLock takeTurn(llvm::StringRef key);
  /// Removes an entry (one whose contents turned out to be of no use).
  void remove(llvm::StringRef key);

  /// Why entries are not kept; empty while they are.
  std::string warning() const;
  /// Told of that once, when it turns out. Set before the cache is used.
  std::function<void(llvm::StringRef)> onWarning = defaultOnWarning;
  /// What caches are made with: for tools to set once, when they start.
  static std::function<void(llvm::StringRef)> defaultOnWarning;
  struct Counters {
    /// Damaged entries and refused files (not ours, no regular ones) are misses too,
    /// but not counted as such.
    std::atomic<unsigned> hits{0}, misses{0}, damaged{0}, refused{0}, stores{0}, evicted{0};
  };
  const Counters &counters() const { return count; }

private:
  void noteFailure(const llvm::Twine &what);
  /// The folder that holds an entry, if it can be trusted.
  PrivateFolder shardOf(const std::string &in, llvm::StringRef key, bool make);
  std::optional<CacheEntry> lookupIn(const std::string &in, llvm::StringRef key);
  void makeRoom(const PrivateFolder &shard, llvm::StringRef newest);
  std::string folder, shared;
  uint64_t limit;
  Counters count;
  mutable std::mutex mutex;
  std::string firstFailure;
};

/// The file format, apart from files. `decode` returns nothing for a text that
/// is not exactly what `encode` makes for this key.
std::string encodeEntry(llvm::StringRef key, const CacheEntry &entry);
std::optional<CacheEntry> decodeEntry(llvm::StringRef key, llvm::StringRef bytes);
/// The key that a text says it is the entry of; empty if it is none.
std::string keyOfEntry(llvm::StringRef bytes);

/// $TILE_CACHE_DIR, else $XDG_CACHE_HOME/tile, else $HOME/.cache/tile; empty
/// (no cache) if TILE_CACHE_DIR is set but empty, or none is set. The one place
/// in the library that reads the environment: for tools and the C API to call.
std::string cacheFolderFromEnvironment();

constexpr llvm::StringLiteral kEntryEnding = ".tilecache";
/// An empty file whose bytes stand for turns.
constexpr llvm::StringLiteral kTurnsFile = "turns";
/// More than any kernel; a larger file is not read.
constexpr uint64_t kMaxEntryBytes = uint64_t(64) << 20;
/// What a process that was ended left behind; a live one renames within moments. Where it can be
/// known that nobody is writing, some moments are enough.
constexpr int64_t kAbandonedSeconds = 3600, kUnlockedSeconds = 1;

} // namespace tile::runtime

#endif // TILE_RUNTIME_CACHE_H
