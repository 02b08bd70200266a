//===- CacheFiles.cpp - the disk cache as people look after it ------------===//
//
// An archive: "TILEPACK" | version u32 | entries u32 | each: length u64, the bytes of the
// entry's file. Entries hold their own keys and checksums, so the archive needs none.
//
//===----------------------------------------------------------------------===//
#include "runtime/CacheFiles.h"
#include "compiler/Compiler.h"
#include "compiler/ParseJson.h"
#include "runtime/Error.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <ctime>

using namespace tile;
using namespace tile::runtime;
namespace endian = llvm::support::endian;
using State = CacheFile::State;

static constexpr llvm::StringLiteral packMagic = "TILEPACK";
static constexpr uint32_t packVersion = 1;

llvm::Expected<CacheFiles> CacheFiles::open(const std::string &path) {
  if (path.empty())
    return makeError(
        ErrorCode::InvalidArgument,
        "there is no cache folder: TILE_CACHE_DIR is set to nothing, or HOME is not set");
  std::string problem;
  (void)PrivateFolder::openShared(path, problem);
  if (!problem.empty())
    return makeError(ErrorCode::Io, formatted("`{}`: {}", path, problem));
  return CacheFiles(path);
}

void CacheFiles::forEach(llvm::function_ref<void(const PrivateFolder &, const std::string &,
                                                 const PrivateFolder::Entry &)>
                             visit) const {
  std::string problem;
  // Looking at an entry is no use of it.
  PrivateFolder all = PrivateFolder::openShared(path, problem);
  for (unsigned i = 0; all && i < 256; ++i) {
    std::string name = llvm::utohexstr(i, /*LowerCase=*/true, 2);
    if (PrivateFolder shard = all.inside(name, /*make=*/false, problem))
      for (const PrivateFolder::Entry &entry : shard.entries())
        visit(shard, name, entry);
  }
}

/// What the sections of an entry say it is.
static void describe(CacheEntry &entry, CacheFile &file) {
  if (entry.sections.count("record")) {
    file.kind = "tuning";
    auto parsed = parseJson(entry.sections["record"]);
    if (!parsed)
      return llvm::consumeError(parsed.takeError());
    if (const llvm::json::Object *record = parsed->getAsObject()) {
      file.kernel = record->getString("kernel").value_or("").str();
      file.variant = record->getString("machine").value_or("").str();
    }
    return;
  }
  file.kind = "kernel";
  KernelMetadata metadata;
  std::string error;
  if (KernelMetadata::fromJson(entry.sections["metadata"], metadata, error))
    file.kernel = metadata.entry;
  file.variant = entry.sections["variant"];
  file.hasMachineCode = !entry.sections["cubin"].empty();
}

CacheFile CacheFiles::examine(const PrivateFolder &shard, const std::string &shardName,
                              const PrivateFolder::Entry &entry, std::string *bytes) const {
  CacheFile file;
  file.shard = shardName;
  file.name = entry.name;
  file.bytes = entry.bytes;
  file.lastUse = entry.lastUse;
  if (llvm::StringRef(entry.name).ends_with(kAsideEnding)) {
    file.state = State::Abandoned;
    return file;
  }
  std::string own;
  std::string &text = bytes ? *bytes : own;
  if (shard.read(entry.name, kMaxEntryBytes, text) != PrivateFolder::Found::File) {
    file.state = State::Refused;
    return file;
  }
  file.key = keyOfEntry(text);
  std::optional<CacheEntry> decoded;
  if (!file.key.empty() && shardName + entry.name == file.key + kEntryEnding.str())
    decoded = decodeEntry(file.key, text);
  file.state = decoded ? State::Good : State::Damaged;
  if (decoded)
    describe(*decoded, file);
  return file;
}

std::vector<CacheFile> CacheFiles::list() const {
  std::vector<CacheFile> files;
  forEach([&](const PrivateFolder &shard, const std::string &name,
              const PrivateFolder::Entry &entry) { files.push_back(examine(shard, name, entry)); });
  llvm::sort(files, [](const CacheFile &a, const CacheFile &b) {
    return std::tie(a.kernel, a.variant, a.shard, a.name) <
           std::tie(b.kernel, b.variant, b.shard, b.name);
  });
  return files;
}

void CacheFiles::remove(const CacheFile &file) const {
  std::string problem;
  PrivateFolder all = PrivateFolder::open(path, /*make=*/false, problem);
  if (!all)
    return;
  if (PrivateFolder shard = all.inside(file.shard, /*make=*/false, problem))
    shard.remove(file.name);
}

/// A live process renames what it writes within moments.
bool CacheFiles::isLeftBehind(const CacheFile &file, int64_t now) const {
  if (now - file.lastUse > kAbandonedSeconds)
    return true;
  std::string problem;
  PrivateFolder all = PrivateFolder::openShared(path, problem);
  PrivateFolder shard = all ? all.inside(file.shard, /*make=*/false, problem) : PrivateFolder();
  return shard && now - file.lastUse > kUnlockedSeconds && shard.isBeingWritten(file.name) == false;
}

CacheFiles::Removed CacheFiles::prune(const Pruning &pruning) const {
  Removed removed;
  auto drop = [&](const CacheFile &file) {
    remove(file);
    ++removed.files;
    removed.bytes += file.bytes;
  };
  int64_t now = std::time(nullptr);
  std::vector<CacheFile> kept;
  uint64_t total = 0;
  for (CacheFile &file : list()) {
    bool isOld = pruning.olderThanSeconds >= 0 && now - file.lastUse > pruning.olderThanSeconds;
    bool isLeft = file.state == State::Abandoned && isLeftBehind(file, now);
    if (file.state == State::Damaged || isLeft || (file.state == State::Good && isOld)) {
      drop(file);
    } else if (file.state == State::Good) {
      total += file.bytes;
      kept.push_back(std::move(file));
    }
  }
  llvm::sort(kept, [](auto &a, auto &b) { return a.lastUse < b.lastUse; });
  for (const CacheFile &file : kept) {
    if (total <= pruning.mostBytes)
      break;
    drop(file);
    total -= file.bytes;
  }
  return removed;
}

CacheFiles::Removed CacheFiles::clear() const {
  Removed removed;
  for (const CacheFile &file : list()) {
    bool isEntry =
        file.state == State::Good || file.state == State::Damaged || file.state == State::Abandoned;
    if (!isEntry)
      continue; // no file of ours
    remove(file);
    ++removed.files;
    removed.bytes += file.bytes;
  }
  return removed;
}

//===----------------------------------------------------------------------===//
// Archives
//===----------------------------------------------------------------------===//

std::string CacheFiles::pack(size_t &count) const {
  std::string body;
  count = 0;
  forEach(
      [&](const PrivateFolder &shard, const std::string &name, const PrivateFolder::Entry &entry) {
        std::string bytes;
        if (examine(shard, name, entry, &bytes).state != State::Good)
          return;
        char length[8];
        endian::write64le(length, bytes.size());
        body.append(length, sizeof length);
        body += bytes;
        ++count;
      });
  std::string archive = packMagic.str();
  for (uint32_t number : {packVersion, uint32_t(count)}) {
    char bytes[4];
    endian::write32le(bytes, number);
    archive.append(bytes, sizeof bytes);
  }
  return archive + body;
}

llvm::Expected<size_t> CacheFiles::unpack(llvm::StringRef archive) const {
  auto damaged = [] {
    return makeError(ErrorCode::InvalidArgument,
                     "this is no whole archive of `tilec cache export`, or one of another version");
  };
  constexpr size_t header = packMagic.size() + 8;
  if (archive.size() < header || !archive.consume_front(packMagic) ||
      endian::read32le(archive.data()) != packVersion)
    return damaged();
  uint32_t count = endian::read32le(archive.data() + 4);
  archive = archive.drop_front(8);
  std::vector<std::pair<std::string, llvm::StringRef>> entries;
  for (; count; --count) {
    uint64_t length = archive.size() < 8 ? UINT64_MAX : endian::read64le(archive.data());
    if (length > archive.size() - std::min<size_t>(archive.size(), 8))
      return damaged();
    llvm::StringRef bytes = archive.substr(8, length);
    archive = archive.drop_front(8 + length);
    std::string key = keyOfEntry(bytes);
    if (key.empty())
      return damaged();
    entries.emplace_back(std::move(key), bytes);
  }
  if (!archive.empty())
    return damaged();
  DiskCache cache(path, UINT64_MAX);
  cache.onWarning = nullptr;
  size_t added = 0;
  for (const auto &[key, bytes] : entries) {
    if (cache.lookup(key))
      continue;
    cache.store(key, *decodeEntry(key, bytes));
    if (std::string problem = cache.warning(); !problem.empty())
      return makeError(ErrorCode::Io, problem);
    ++added;
  }
  return added;
}
