//===- CacheTest.cpp - the disk cache under damage and concurrency --------===//
#include "runtime/Cache.h"
#include "TestSupport.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
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

std::string readFile(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : "";
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
  EXPECT_THAT(cache.warning(), HasSubstr("the cache is not written: `" + blocked));
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
  std::vector<std::string> keys = {kernelKey("source", {}), kernelKey("other", {})};
  auto with = [&](auto change) {
    CompileOptions options;
    change(options);
    keys.push_back(kernelKey("source", options));
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
  with([](CompileOptions &o) { o.lineInfo = false; });
  with([](CompileOptions &o) { o.libdevicePath = "/nowhere"; });
  with([](CompileOptions &o) { o.includePaths = {"a"}; });
  with([](CompileOptions &o) { o.stopAfter = Stage::Llvm; });
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

TEST(CacheKey, LibdeviceContentCounts) {
  TemporaryFolder folder;
  CompileOptions options;
  options.libdevicePath = folder.path.str().str() + "/libdevice.bc";
  writeFile(options.libdevicePath, "one");
  std::string before = kernelKey("source", options);
  writeFile(options.libdevicePath, "two");
  EXPECT_NE(kernelKey("source", options), before);
  EXPECT_EQ(readFile(options.libdevicePath), "two");
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
