//===- Cache.cpp ----------------------------------------------------------===//
#include "runtime/Cache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace tile;
using namespace tile::runtime;
namespace endian = llvm::support::endian;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Changes when what is stored under a key changes its meaning.
static constexpr uint32_t formatVersion = 1;

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

std::string runtime::kernelKey(llvm::StringRef source, const CompileOptions &options) {
  KeyBuilder builder("kernel");
  builder.add(compilerVersion()).add(source).add(options.kernel).add(options.signature);
  builder.add(options.constexprs.size());
  for (const auto &[name, value] : options.constexprs)
    builder.add(name).add(value);
  builder.add(options.numWarps).add(options.numStages).add(options.target);
  builder.add(options.enableFpFusion).add(options.debug).add(options.maxRegisters);
  builder.add(options.numCtas).add(static_cast<int64_t>(options.warpRoles));
  builder.add(options.dependentLaunch).add(options.persistent).add(options.checkedLaunch);
  builder.add(options.tensorMaps).add(options.eachLaneArrives).add(options.algebraic);
  builder.add(options.lineInfo).add(static_cast<int64_t>(options.stopAfter));
  builder.add(options.printIrAfter).add(options.includePaths.size());
  for (const std::string &path : options.includePaths)
    builder.add(path);
  // The bitcode decides the code, not its place.
  builder.add(options.libdevicePath);
  if (!options.libdevicePath.empty())
    if (auto file = llvm::MemoryBuffer::getFile(options.libdevicePath))
      builder.add((*file)->getBuffer());
  return builder.finish();
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

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string DiskCache::fileFor(llvm::StringRef key) const {
  // Two letters of folder keep folders small.
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, key.take_front(2), key.drop_front(2) + ".tilecache");
  return path.str().str();
}

std::optional<CacheEntry> DiskCache::lookup(llvm::StringRef key) {
  if (!enabled())
    return std::nullopt;
  // Volatile: do not map the file, another process may replace or cut it.
  auto file = llvm::MemoryBuffer::getFile(fileFor(key), /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!file) {
    ++count.misses;
    return std::nullopt;
  }
  std::optional<CacheEntry> entry = decodeEntry(key, (*file)->getBuffer());
  ++(entry ? count.hits : count.damaged);
  return entry;
}

void DiskCache::storeFailed(llvm::StringRef file, std::error_code code) {
  std::lock_guard<std::mutex> lock(mutex);
  if (firstFailure.empty())
    firstFailure = ("the cache is not written: `" + file + "`: " + code.message()).str();
}

void DiskCache::store(llvm::StringRef key, const CacheEntry &entry) {
  if (!enabled())
    return;
  std::string path = fileFor(key);
  if (std::error_code code = llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path),
                                                               /*IgnoreExisting=*/true,
                                                               llvm::sys::fs::perms::owner_all))
    return storeFailed(path, code);

  int descriptor = -1;
  llvm::SmallString<128> temporary;
  if (std::error_code code =
          llvm::sys::fs::createUniqueFile(path + ".%%%%%%%%.tmp", descriptor, temporary))
    return storeFailed(path, code);
  std::error_code written;
  {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << encodeEntry(key, entry);
    stream.close();
    written = stream.error();
    stream.clear_error(); // reported below; the destructor would abort
  }
  if (!written)
    written = llvm::sys::fs::rename(temporary, path);
  if (written) {
    llvm::sys::fs::remove(temporary);
    return storeFailed(path, written);
  }
  ++count.stores;
}

void DiskCache::remove(llvm::StringRef key) {
  if (enabled())
    llvm::sys::fs::remove(fileFor(key));
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
