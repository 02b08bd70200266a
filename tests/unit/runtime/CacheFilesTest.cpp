//===- CacheFilesTest.cpp - looking after a cache folder ------------------===//
#include "runtime/CacheFiles.h"
#include "MockCompiler.h"
#include "TestSupport.h"
#include "runtime/CompileService.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

using namespace tile;
using namespace tile::test;
using frontend::SourceFile;
using State = CacheFile::State;

namespace {

class CacheFilesTest : public testing::Test {
protected:
  CacheFilesTest() {
    mockDependencies.clear();
    mockMilliseconds = 0;
  }
  std::string root() const { return folder.path.str().str(); }
  static void compile(const std::string &into, llvm::StringRef text) {
    CompileService service(mockCompile, into);
    SourceFile file("k.tile", text.str());
    valueOf(service.compile(file, {}));
  }
  static CacheFiles open(const std::string &path) { return valueOf(CacheFiles::open(path)); }
  std::string pathOf(const CacheFile &file) const {
    return root() + "/" + file.shard + "/" + file.name;
  }
  void damage(const CacheFile &file) const {
    std::error_code code;
    llvm::raw_fd_ostream out(pathOf(file), code, llvm::sys::fs::CD_OpenExisting,
                             llvm::sys::fs::FA_Write, llvm::sys::fs::OF_None);
    out.seek(100);
    out << "#";
  }
  void age(const CacheFile &file, int64_t seconds) const {
    utimbuf times = {time(nullptr) - seconds, time(nullptr) - seconds};
    ASSERT_EQ(utime(pathOf(file).c_str(), &times), 0);
  }
  size_t count(State state) const {
    return llvm::count_if(open(root()).list(), [&](auto &file) { return file.state == state; });
  }
  TemporaryFolder folder;
};

TEST_F(CacheFilesTest, ListsWhatIsThere) {
  compile(root(), "one");
  std::vector<CacheFile> files = open(root()).list();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].state, State::Good);
  EXPECT_EQ(files[0].kind, "kernel");
  EXPECT_EQ(files[0].kernel, "scale");
  EXPECT_THAT(files[0].variant, HasSubstr("num_warps=4"));
  EXPECT_EQ(files[0].key.size(), 64u);
  EXPECT_FALSE(files[0].hasMachineCode);
  EXPECT_TRUE(open(root() + "/none").list().empty());
}

TEST_F(CacheFilesTest, PrunesWhatIsDamagedOldOrTooMuch) {
  for (const char *text : {"one", "two", "three", "four"})
    compile(root(), text);
  std::vector<CacheFile> files = open(root()).list();
  ASSERT_EQ(files.size(), 4u);
  damage(files[0]);
  age(files[1], 10 * 86400);
  age(files[2], 100);
  EXPECT_EQ(count(State::Damaged), 1u);

  EXPECT_EQ(open(root()).prune({}).files, 1u) << "only what is damaged";
  EXPECT_EQ(count(State::Good), 3u);
  CacheFiles::Pruning old;
  old.olderThanSeconds = 86400;
  EXPECT_EQ(open(root()).prune(old).files, 1u);
  CacheFiles::Pruning small;
  small.mostBytes = files[3].bytes + 1;
  EXPECT_EQ(open(root()).prune(small).files, 1u);
  files = open(root()).list();
  ASSERT_EQ(files.size(), 1u) << "what was used last stays";
  EXPECT_EQ(open(root()).clear().files, 1u);
  EXPECT_TRUE(open(root()).list().empty());
}

TEST_F(CacheFilesTest, WhatLiveProcessesWriteStays) {
  compile(root(), "one");
  CacheFile file = open(root()).list()[0];
  file.name += ".1234" + kAsideEnding.str();
  std::error_code code;
  llvm::raw_fd_ostream(pathOf(file), code) << "half";
  EXPECT_EQ(open(root()).prune({}).files, 0u) << "it is fresh";
  age(file, kUnlockedSeconds + 60);
  int writer = ::open(pathOf(file).c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(writer, LOCK_EX), 0);
  EXPECT_EQ(open(root()).prune({}).files, 0u) << "somebody is at it";
  age(file, kAbandonedSeconds + 60);
  EXPECT_EQ(open(root()).prune({}).files, 1u) << "nobody is at it for hours";
  ::close(writer);
  EXPECT_EQ(count(State::Good), 1u);
}

TEST_F(CacheFilesTest, WhatEndedProcessesLeftGoes) {
  compile(root(), "one");
  CacheFile file = open(root()).list()[0];
  file.name += ".1234" + kAsideEnding.str();
  std::error_code code;
  llvm::raw_fd_ostream(pathOf(file), code) << "half";
  age(file, kUnlockedSeconds + 60);
  EXPECT_EQ(open(root()).prune({}).files, 1u);
  EXPECT_EQ(count(State::Good), 1u);
}

TEST_F(CacheFilesTest, MovesToAnotherFolder) {
  compile(root(), "one");
  compile(root(), "two");
  CacheFile bad = open(root()).list()[0];
  size_t packed = 0;
  std::string archive = open(root()).pack(packed);
  EXPECT_EQ(packed, 2u);

  std::string other = root() + "/other";
  EXPECT_EQ(valueOf(open(other).unpack(archive)), 2u);
  EXPECT_EQ(valueOf(open(other).unpack(archive)), 0u) << "what is there stays";
  mockCompilations = 0;
  compile(other, "one");
  compile(other, "two");
  EXPECT_EQ(mockCompilations, 0) << "nothing is left to compile";

  damage(bad);
  EXPECT_EQ((open(root()).pack(packed), packed), 1u) << "what is damaged stays behind";
  // Cut or changed anywhere, nothing of an archive counts.
  std::string third = root() + "/third";
  for (size_t length = 0; length < archive.size(); length += 1 + archive.size() / 40)
    EXPECT_EQ(errorOf(open(third).unpack(llvm::StringRef(archive).take_front(length))).code,
              ErrorCode::InvalidArgument);
  for (size_t at = 0; at < archive.size(); at += 1 + archive.size() / 40) {
    std::string changed = archive;
    changed[at] ^= 0x20;
    errorOf(open(third).unpack(changed));
  }
  errorOf(open(third).unpack(archive + "x"));
  EXPECT_TRUE(open(third).list().empty());
}

TEST_F(CacheFilesTest, FoldersOfOthersAreNotTouched) {
  chmod(root().c_str(), 0777);
  EXPECT_THAT(errorOf(CacheFiles::open(root())).message, HasSubstr("other users may write"));
  chmod(root().c_str(), 0700);
  errorOf(CacheFiles::open(""));
}

} // namespace
