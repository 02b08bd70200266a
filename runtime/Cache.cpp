//===- Cache.cpp ----------------------------------------------------------===//
#include "runtime/Cache.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <ctime>

using namespace tile;
using namespace tile::runtime;
namespace endian = llvm::support::endian;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Changes when what is stored under a key changes its meaning.
static constexpr uint32_t formatVersion = 2;

KeyBuilder::KeyBuilder(llvm::StringRef kind) {
  add(kind);
  add(formatVersion);
}

KeyBuilder &KeyBuilder::add(llvm::StringRef field) {
  uint8_t length[8];
  endian::write64le(length, field.size());
  hasher.update(length);
  hasher.update(field);
  return *this;
}

KeyBuilder &KeyBuilder::add(int64_t field) {
  uint8_t bytes[8];
  endian::write64le(bytes, field);
  return add(llvm::StringRef(reinterpret_cast<const char *>(bytes), sizeof bytes));
}

std::string KeyBuilder::finish() { return llvm::toHex(hasher.final<32>(), /*LowerCase=*/true); }

std::string runtime::contentHash(llvm::StringRef text) {
  return KeyBuilder("content").add(text).finish();
}

std::string runtime::kernelKey(const frontend::SourceFile &source, const CompileOptions &options) {
  KeyBuilder builder("kernel");
  builder.add(compilerVersion()).add(source.name()).add(source.text());
  builder.add(options.kernel).add(options.signature);
  builder.add(options.constexprs.size());
  for (const auto &[name, value] : options.constexprs)
    builder.add(name).add(value);
  builder.add(options.numWarps).add(options.numStages).add(options.target);
  builder.add(options.enableFpFusion).add(options.debug).add(options.maxRegisters);
  builder.add(options.numCtas).add(static_cast<int64_t>(options.warpRoles));
  builder.add(options.dependentLaunch).add(options.persistent).add(options.checkedLaunch);
  builder.add(static_cast<int64_t>(options.programs))
      .add(options.tensorMaps)
      .add(options.eachLaneArrives)
      .add(options.algebraic);
  builder.add(options.multiplesAtLaunch).add(options.multiples.size());
  for (auto [entry, multiple] : options.multiples)
    builder.add(entry).add(multiple);
  builder.add(options.checked).add(options.lineInfo).add(static_cast<int64_t>(options.stopAfter));
  builder.add(options.printIrAfter).add(options.includePaths.size());
  for (const std::string &path : options.includePaths)
    builder.add(path);
  return builder.add(options.libdevicePath).finish();
}

//===----------------------------------------------------------------------===//
// The file format
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral magic = "TILECACH";
static constexpr size_t checksumBytes = 32;

static std::string checksum(llvm::StringRef body) {
  llvm::BLAKE3 hasher;
  hasher.update(body);
  auto digest = hasher.final<checksumBytes>();
  return std::string(reinterpret_cast<const char *>(digest.data()), digest.size());
}

namespace {
void append32(std::string &out, uint32_t value) {
  char bytes[4];
  endian::write32le(bytes, value);
  out.append(bytes, sizeof bytes);
}
void append64(std::string &out, uint64_t value) {
  char bytes[8];
  endian::write64le(bytes, value);
  out.append(bytes, sizeof bytes);
}

/// Reads fields off the front of a text; any read past its end fails them all.
struct Reader {
  llvm::StringRef rest;
  bool failed = false;
  llvm::StringRef take(uint64_t size) {
    if (failed || size > rest.size()) {
      failed = true;
      return {};
    }
    llvm::StringRef bytes = rest.take_front(size);
    rest = rest.drop_front(size);
    return bytes;
  }
  uint32_t take32() {
    llvm::StringRef bytes = take(4);
    return failed ? 0 : endian::read32le(bytes.data());
  }
  uint64_t take64() {
    llvm::StringRef bytes = take(8);
    return failed ? 0 : endian::read64le(bytes.data());
  }
};
} // namespace

std::string runtime::encodeEntry(llvm::StringRef key, const CacheEntry &entry) {
  std::string body;
  append32(body, key.size());
  body += key;
  append32(body, entry.sections.size());
  for (const auto &[name, data] : entry.sections) {
    append32(body, name.size());
    body += name;
    append64(body, data.size());
    body += data;
  }
  std::string bytes = magic.str();
  append32(bytes, formatVersion);
  bytes += checksum(body);
  return bytes + body;
}

std::optional<CacheEntry> runtime::decodeEntry(llvm::StringRef key, llvm::StringRef bytes) {
  Reader reader{bytes};
  if (reader.take(magic.size()) != magic || reader.take32() != formatVersion)
    return std::nullopt;
  llvm::StringRef sum = reader.take(checksumBytes);
  if (reader.failed || sum != checksum(reader.rest))
    return std::nullopt;
  if (reader.take(reader.take32()) != key)
    return std::nullopt;
  CacheEntry entry;
  for (uint32_t sections = reader.take32(); sections && !reader.failed; --sections) {
    llvm::StringRef name = reader.take(reader.take32());
    llvm::StringRef data = reader.take(reader.take64());
    entry.sections[name.str()] = data.str();
  }
  if (reader.failed || !reader.rest.empty())
    return std::nullopt;
  return entry;
}

std::string runtime::keyOfEntry(llvm::StringRef bytes) {
  Reader reader{bytes};
  reader.take(magic.size() + sizeof formatVersion + checksumBytes);
  std::string key = reader.take(reader.take32()).str();
  bool isKey = key.size() == 64 && llvm::all_of(key, llvm::isHexDigit);
  return isKey && decodeEntry(key, bytes) ? key : "";
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

// Two letters of folder keep folders small.
static llvm::StringRef shardName(llvm::StringRef key) { return key.take_front(2); }
static std::string entryName(llvm::StringRef key) {
  return (key.drop_front(2) + kEntryEnding).str();
}

std::string DiskCache::fileFor(llvm::StringRef key) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, shardName(key), entryName(key));
  return path.str().str();
}

std::function<void(llvm::StringRef)> DiskCache::defaultOnWarning;

void DiskCache::noteFailure(const llvm::Twine &what) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!firstFailure.empty())
      return;
    firstFailure = what.str();
  }
  if (onWarning)
    onWarning(firstFailure); // which does not change any more
}

PrivateFolder DiskCache::shardOf(const std::string &in, llvm::StringRef key, bool make) {
  std::string problem, at = in;
  bool isShared = &in == &shared;
  PrivateFolder all =
      isShared ? PrivateFolder::openShared(in, problem) : PrivateFolder::open(in, make, problem);
  PrivateFolder shard;
  if (all) {
    at += "/" + shardName(key).str();
    shard = all.inside(shardName(key).str(), make, problem);
  }
  if (!problem.empty())
    noteFailure(formatted("{} is not used: `{}`: {}", isShared ? "the shared cache" : "the cache",
                          at, problem));
  return shard;
}

std::optional<CacheEntry> DiskCache::lookupIn(const std::string &in, llvm::StringRef key) {
  PrivateFolder shard = shardOf(in, key, /*make=*/false);
  std::string bytes;
  auto found =
      shard ? shard.read(entryName(key), kMaxEntryBytes, bytes) : PrivateFolder::Found::Nothing;
  if (found != PrivateFolder::Found::File) {
    ++(found == PrivateFolder::Found::Nothing ? count.misses : count.refused);
    return std::nullopt;
  }
  std::optional<CacheEntry> entry = decodeEntry(key, bytes);
  ++(entry ? count.hits : count.damaged);
  return entry;
}

std::optional<CacheEntry> DiskCache::lookup(llvm::StringRef key, bool *fromShared) {
  std::optional<CacheEntry> entry;
  if (!folder.empty())
    entry = lookupIn(folder, key);
  bool isShared = !entry && !shared.empty();
  if (isShared)
    entry = lookupIn(shared, key);
  if (fromShared)
    *fromShared = isShared;
  return entry;
}

void DiskCache::store(llvm::StringRef key, const CacheEntry &entry) {
  if (folder.empty())
    return;
  PrivateFolder shard = shardOf(folder, key, /*make=*/true);
  std::string bytes = encodeEntry(key, entry);
  if (!shard || bytes.size() > kMaxEntryBytes)
    return;
  if (std::error_code code = shard.write(entryName(key), bytes))
    return noteFailure(
        formatted("the cache is not written: `{}`: {}", fileFor(key), code.message()));
  ++count.stores;
  makeRoom(shard, entryName(key));
}

FileLock DiskCache::takeTurn(llvm::StringRef key) {
  constexpr unsigned mostMilliseconds = 30'000;
  uint64_t number = 0;
  std::string problem; // is told by who stores
  if (folder.empty() || key.take_front(16).getAsInteger(16, number))
    return {};
  PrivateFolder all = PrivateFolder::open(folder, /*make=*/true, problem);
  return all ? all.lock(kTurnsFile.str(), number, mostMilliseconds) : FileLock();
}

void DiskCache::makeRoom(const PrivateFolder &shard, llvm::StringRef newest) {
  int64_t now = std::time(nullptr);
  uint64_t total = 0;
  std::vector<PrivateFolder::Entry> kept;
  for (PrivateFolder::Entry &entry : shard.entries()) {
    if (llvm::StringRef(entry.name).ends_with(kAsideEnding)) {
      if (now - entry.lastUse > kAbandonedSeconds)
        shard.remove(entry.name);
    } else if (llvm::StringRef(entry.name).ends_with(kEntryEnding)) {
      total += entry.bytes;
      if (entry.name != newest)
        kept.push_back(std::move(entry));
    }
  }
  constexpr uint64_t shards = 256;
  if (total <= limit / shards)
    return;
  llvm::sort(kept, [](auto &a, auto &b) { return a.lastUse < b.lastUse; });
  for (const PrivateFolder::Entry &entry : kept) {
    if (total <= limit / shards)
      return;
    shard.remove(entry.name);
    total -= entry.bytes;
    ++count.evicted;
  }
}

void DiskCache::remove(llvm::StringRef key) {
  if (folder.empty())
    return;
  if (PrivateFolder shard = shardOf(folder, key, /*make=*/false))
    shard.remove(entryName(key));
}

std::string DiskCache::warning() const {
  std::lock_guard<std::mutex> lock(mutex);
  return firstFailure;
}

std::string runtime::cacheFolderFromEnvironment() {
  if (const char *folder = std::getenv("TILE_CACHE_DIR"))
    return folder;
  llvm::SmallString<128> path;
  if (const char *folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) {
    path = folder;
    llvm::sys::path::append(path, "tile");
  } else if (const char *home = std::getenv("HOME"); home && *home) {
    path = home;
    llvm::sys::path::append(path, ".cache", "tile");
  }
  return path.str().str();
}
