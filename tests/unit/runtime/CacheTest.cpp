//===- CacheTest.cpp - the disk cache under damage and concurrency --------===//
#include "runtime/Cache.h"
#include "TestSupport.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tile;
using namespace tile::test;

namespace {

const std::string key = KeyBuilder("test").add("a key").finish();

CacheEntry entryOf(llvm::StringRef ptx) {
  CacheEntry entry;
  entry.sections["ptx"] = ptx.str();
  entry.sections["empty"] = "";
  entry.sections["binary"] = std::string("\0\1\xff\n", 4);
  return entry;
}

void writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  ASSERT_FALSE(code);
  stream << bytes;
}

TEST(Cache, KeepsSectionsToTheByte) {
  TemporaryFolder folder;
  DiskCache cache(folder.path.str().str());
  EXPECT_FALSE(cache.lookup(key));
  cache.store(key, entryOf("code"));
  auto entry = cache.lookup(key);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->sections, entryOf("code").sections);
  cache.remove(key);
  EXPECT_FALSE(cache.lookup(key));
  EXPECT_EQ(cache.warning(), "");
}

TEST(Cache, DisabledCacheMisses) {
  DiskCache cache;
  cache.store(key, entryOf("code"));
  EXPECT_FALSE(cache.lookup(key));
  EXPECT_EQ(cache.warning(), "");
}

TEST(Cache, EveryDamagedByteIsNoticed) {
  std::string bytes = encodeEntry(key, entryOf("code"));
  ASSERT_TRUE(decodeEntry(key, bytes));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 0x10;
    EXPECT_FALSE(decodeEntry(key, damaged)) << "byte " << i;
    EXPECT_FALSE(decodeEntry(key, llvm::StringRef(bytes).take_front(i))) << "cut at " << i;
  }
  EXPECT_FALSE(decodeEntry(key, bytes + "x"));
}

TEST(Cache, ForeignEntriesAreNotTrusted) {
  std::string other = KeyBuilder("test").add("another key").finish();
  EXPECT_FALSE(decodeEntry(other, encodeEntry(key, entryOf("code"))));
}

TEST(Cache, DamagedFileIsAMissAndIsReplaced) {
  TemporaryFolder folder;
  DiskCache cache(folder.path.str().str());
  cache.store(key, entryOf("code"));
  writeFile(cache.fileFor(key), "rubbish");
  EXPECT_FALSE(cache.lookup(key));
  EXPECT_EQ(cache.counters().damaged, 1u);
  cache.store(key, entryOf("code"));
  EXPECT_TRUE(cache.lookup(key));
}

TEST(Cache, UnwritableFolderIsNotFatal) {
  // A file where the folder should be: unwritable for root too.
  TemporaryFolder folder;
  std::string blocked = folder.path.str().str() + "/file";
  writeFile(blocked, "");
  DiskCache cache(blocked + "/cache");
  cache.store(key, entryOf("code"));
  EXPECT_FALSE(cache.lookup(key));
  EXPECT_THAT(cache.warning(), HasSubstr("the cache is not used: `" + blocked));
}

TEST(Cache, ALinkToNothingIsSaid) {
  TemporaryFolder folder;
  std::string link = folder.path.str().str() + "/link";
  ASSERT_EQ(symlink("nowhere", link.c_str()), 0);
  DiskCache cache(link);
  cache.store(key, entryOf("code"));
  EXPECT_THAT(cache.warning(), HasSubstr("the cache is not used: `" + link));
}

TEST(Cache, NoTemporaryFilesAreLeft) {
  TemporaryFolder folder;
  DiskCache cache(folder.path.str().str());
  // The entry's own place is taken by a folder, so that the renaming fails.
  ASSERT_FALSE(llvm::sys::fs::create_directories(cache.fileFor(key) + "/inside"));
  cache.store(key, entryOf("code"));
  EXPECT_NE(cache.warning(), "");
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(folder.path, code), end; it != end && !code;
       it.increment(code))
    EXPECT_FALSE(llvm::StringRef(it->path()).ends_with(".tmp")) << it->path();
}

TEST(Cache, FolderIsPrivate) {
  TemporaryFolder folder;
  DiskCache cache(folder.path.str().str() + "/new");
  cache.store(key, entryOf("code"));
  struct stat status = {};
  ASSERT_EQ(stat(cache.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077, 0u);
}

//===----------------------------------------------------------------------===//
// What is not ours
//===----------------------------------------------------------------------===//

/// A cache with one good entry.
struct FilledCache {
  FilledCache() { cache.store(key, entryOf("code")); }
  std::string file() const { return cache.fileFor(key); }
  std::string shard() const { return llvm::sys::path::parent_path(file()).str(); }
  void replaceFile() const { ASSERT_EQ(unlink(file().c_str()), 0); }
  /// Not found, for another reason than that there is nothing; the next entry that is
  /// stored is good again.
  void expectRefusedAndReplaced() {
    EXPECT_FALSE(cache.lookup(key));
    EXPECT_EQ(cache.counters().misses, 0u);
    EXPECT_EQ(cache.counters().hits, 0u);
    cache.store(key, entryOf("code"));
    EXPECT_TRUE(cache.lookup(key));
  }
  TemporaryFolder folder;
  DiskCache cache{folder.path.str().str() + "/cache"};
};

TEST(CacheTrust, AFileThatOthersMayWriteIsRefused) {
  for (mode_t mode : {0620, 0602, 0666}) {
    FilledCache filled;
    ASSERT_EQ(chmod(filled.file().c_str(), mode), 0);
    filled.expectRefusedAndReplaced();
  }
}

TEST(CacheTrust, FilesAndFoldersArePrivate) {
  mode_t before = umask(0);
  FilledCache filled;
  umask(before);
  for (const std::string &path : {filled.cache.path(), filled.shard(), filled.file()}) {
    struct stat status = {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 077, 0u) << path;
  }
}

TEST(CacheTrust, AFolderThatOthersMayWriteIsRefused) {
  for (bool inner : {false, true}) {
    FilledCache filled;
    std::string folder = inner ? filled.shard() : filled.cache.path();
    ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
    EXPECT_FALSE(filled.cache.lookup(key));
    EXPECT_THAT(filled.cache.warning(), HasSubstr("`" + folder + "`: other users may write to it"));
    filled.cache.store(key, entryOf("code"));
    EXPECT_EQ(filled.cache.counters().stores, 1u) << "nothing is written there either";
    ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
    EXPECT_TRUE(filled.cache.lookup(key));
  }
}

TEST(CacheTrust, WhatBelongsToAnotherUserIsRefused) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give files away";
  FilledCache filled;
  ASSERT_EQ(chown(filled.file().c_str(), 12345, 12345), 0);
  filled.expectRefusedAndReplaced();
  for (const std::string &folder : {filled.shard(), filled.cache.path()}) {
    ASSERT_EQ(chown(folder.c_str(), 12345, 12345), 0);
    DiskCache cache(filled.cache.path());
    EXPECT_FALSE(cache.lookup(key));
    EXPECT_THAT(cache.warning(), HasSubstr("`" + folder + "`: it belongs to another user"));
    ASSERT_EQ(chown(folder.c_str(), 0, 0), 0);
  }
}

TEST(CacheTrust, APipeDoesNotHang) {
  FilledCache filled;
  filled.replaceFile();
  ASSERT_EQ(mkfifo(filled.file().c_str(), 0600), 0);
  filled.expectRefusedAndReplaced();
}

TEST(CacheTrust, LinksAreNotFollowed) {
  FilledCache filled;
  std::string elsewhere = filled.folder.path.str().str() + "/good";
  ASSERT_EQ(rename(filled.file().c_str(), elsewhere.c_str()), 0);
  for (const std::string &target : {elsewhere, std::string("/dev/zero")}) {
    (void)unlink(filled.file().c_str());
    ASSERT_EQ(symlink(target.c_str(), filled.file().c_str()), 0);
    EXPECT_FALSE(filled.cache.lookup(key)) << target;
  }
  filled.cache.store(key, entryOf("code"));
  EXPECT_TRUE(filled.cache.lookup(key));
  struct stat status = {};
  ASSERT_EQ(lstat(filled.file().c_str(), &status), 0);
  EXPECT_TRUE(S_ISREG(status.st_mode)) << "the link was replaced, not followed";
  // A folder of entries that is a link leads away just as well.
  std::string moved = filled.folder.path.str().str() + "/moved";
  ASSERT_EQ(rename(filled.shard().c_str(), moved.c_str()), 0);
  ASSERT_EQ(symlink(moved.c_str(), filled.shard().c_str()), 0);
  EXPECT_FALSE(filled.cache.lookup(key));
  EXPECT_NE(filled.cache.warning(), "");
}

TEST(CacheTrust, AnEnormousFileIsNotRead) {
  FilledCache filled;
  ASSERT_EQ(truncate(filled.file().c_str(), off_t(1) << 40), 0); // a hole of a TiB
  filled.expectRefusedAndReplaced();
}

//===----------------------------------------------------------------------===//
// Room
//===----------------------------------------------------------------------===//

/// Keys whose entries lie in one folder.
std::vector<std::string> neighbours(size_t count) {
  std::vector<std::string> keys;
  for (int64_t i = 0; keys.size() < count; ++i)
    if (std::string candidate = KeyBuilder("test").add(i).finish();
        llvm::StringRef(candidate).starts_with("00"))
      keys.push_back(std::move(candidate));
  return keys;
}

void setAge(const std::string &file, time_t seconds) {
  timespec at = {time(nullptr) - seconds, 0};
  timespec times[2] = {at, at};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

TEST(CacheRoom, WhatWasNotUsedForLongestGoes) {
  TemporaryFolder folder;
  CacheEntry entry = entryOf(std::string(1000, 'x'));
  std::vector<std::string> keys = neighbours(4);
  uint64_t three = 3 * encodeEntry(keys[0], entry).size();
  DiskCache cache(folder.path.str().str(), three * 256);
  for (int i = 0; i < 3; ++i) {
    cache.store(keys[i], entry);
    setAge(cache.fileFor(keys[i]), 10000 - 1000 * i);
  }
  EXPECT_TRUE(cache.lookup(keys[0])) << "the oldest is used";
  EXPECT_EQ(cache.counters().evicted, 0u);
  cache.store(keys[3], entry);
  EXPECT_EQ(cache.counters().evicted, 1u);
  EXPECT_TRUE(cache.lookup(keys[0]));
  EXPECT_FALSE(cache.lookup(keys[1]));
  EXPECT_TRUE(cache.lookup(keys[2]));
  EXPECT_TRUE(cache.lookup(keys[3]));
}

TEST(CacheRoom, AnEntryLargerThanTheRestIsKept) {
  TemporaryFolder folder;
  DiskCache cache(folder.path.str().str(), /*limit=*/1);
  std::vector<std::string> keys = neighbours(2);
  cache.store(keys[0], entryOf("code"));
  EXPECT_TRUE(cache.lookup(keys[0]));
  cache.store(keys[1], entryOf("code"));
  EXPECT_FALSE(cache.lookup(keys[0]));
  EXPECT_TRUE(cache.lookup(keys[1]));
}

TEST(CacheRoom, WhatEndedProcessesLeftIsSwept) {
  FilledCache filled;
  std::string old = filled.file() + ".0000002A.tmp", fresh = filled.file() + ".0000002B.tmp";
  writeFile(old, "half an ent");
  writeFile(fresh, "half an ent");
  setAge(old, 2 * 3600);
  filled.cache.store(key, entryOf("code"));
  EXPECT_NE(access(old.c_str(), F_OK), 0);
  EXPECT_EQ(access(fresh.c_str(), F_OK), 0) << "somebody may be writing it";
}

/// Stores and looks up as fast as it can; whatever is found must be whole.
void hammer(DiskCache &cache, unsigned seed, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    std::string text(1000 + (seed * 7919 + i * 104729) % 50000, static_cast<char>('a' + seed));
    cache.store(key, entryOf(text));
    if (auto entry = cache.lookup(key)) {
      const std::string &found = entry->sections["ptx"];
      EXPECT_EQ(found.find_first_not_of(found[0]), std::string::npos) << "two entries mixed";
    }
  }
  EXPECT_EQ(cache.counters().damaged, 0u);
  EXPECT_EQ(cache.counters().misses, 0u);
}

TEST(Cache, ManyThreads) {
  TemporaryFolder folder;
  DiskCache cache(folder.path.str().str());
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed)
    threads.emplace_back([&, seed] { hammer(cache, seed, 40); });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Cache, ManyProcesses) {
  TemporaryFolder folder;
  std::vector<pid_t> children;
  for (unsigned seed = 0; seed < 6; ++seed) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      DiskCache cache(folder.path.str().str());
      hammer(cache, seed, 40);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

TEST(CacheKey, FieldsDoNotRunTogether) {
  EXPECT_NE(KeyBuilder("k").add("ab").add("c").finish(),
            KeyBuilder("k").add("a").add("bc").finish());
  EXPECT_NE(KeyBuilder("k").add("").finish(), KeyBuilder("k").finish());
  EXPECT_NE(KeyBuilder("k").add(1).finish(), KeyBuilder("k").add(2).finish());
  EXPECT_NE(KeyBuilder("k").add("a").finish(), KeyBuilder("l").add("a").finish());
}

TEST(CacheKey, EveryOptionCounts) {
  // A source's name is in messages, and imports are looked for beside it.
  frontend::SourceFile source("k.tile", "source");
  std::vector<std::string> keys = {kernelKey(source, {}), kernelKey({"k.tile", "other"}, {}),
                                   kernelKey({"B/k.tile", "source"}, {})};
  auto with = [&](auto change) {
    CompileOptions options;
    change(options);
    keys.push_back(kernelKey(source, options));
  };
  with([](CompileOptions &o) { o.kernel = "k"; });
  with([](CompileOptions &o) { o.signature = "i32"; });
  with([](CompileOptions &o) { o.constexprs = {{"B", "1"}}; });
  with([](CompileOptions &o) { o.constexprs = {{"B", "2"}}; });
  with([](CompileOptions &o) { o.constexprs = {{"B", "1"}, {"C", "2"}}; });
  with([](CompileOptions &o) { o.numWarps = 8; });
  with([](CompileOptions &o) { o.numStages = 8; });
  with([](CompileOptions &o) { o.target = "sm_80"; });
  with([](CompileOptions &o) { o.enableFpFusion = false; });
  with([](CompileOptions &o) { o.debug = true; });
  with([](CompileOptions &o) { o.maxRegisters = 64; });
  with([](CompileOptions &o) { o.eachLaneArrives = true; });
  with([](CompileOptions &o) { o.algebraic = true; });
  with([](CompileOptions &o) { o.checked = true; });
  with([](CompileOptions &o) { o.lineInfo = false; });
  with([](CompileOptions &o) { o.libdevicePath = "/nowhere"; });
  with([](CompileOptions &o) { o.includePaths = {"a"}; });
  with([](CompileOptions &o) { o.stopAfter = Stage::Llvm; });
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

TEST(CacheFolder, FromEnvironment) {
  auto set = [](const char *name, const char *value) {
    value ? setenv(name, value, 1) : unsetenv(name);
  };
  set("TILE_CACHE_DIR", nullptr), set("XDG_CACHE_HOME", nullptr), set("HOME", "/home/me");
  EXPECT_EQ(cacheFolderFromEnvironment(), "/home/me/.cache/tile");
  set("XDG_CACHE_HOME", "/xdg");
  EXPECT_EQ(cacheFolderFromEnvironment(), "/xdg/tile");
  set("TILE_CACHE_DIR", "/mine");
  EXPECT_EQ(cacheFolderFromEnvironment(), "/mine");
  set("TILE_CACHE_DIR", "");
  EXPECT_EQ(cacheFolderFromEnvironment(), "");
}

} // namespace
