//===- EquivalentsTest.cpp - how entries of the list find their mutants ---===//
#include "tests/mutation/Equivalents.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace tile::mutation;

namespace {

const std::vector<std::string> lines = {"x = load(p)", "y = dot(x, x)"};

Mutation mutation(const char *kind, const char *where) { return {kind, where, nullptr, nullptr}; }

/// A list that has been read from a file.
struct ListFile {
  explicit ListFile(const std::string &text) {
    llvm::SmallString<128> path;
    int fd = -1;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("equivalent", "txt", fd, path));
    llvm::raw_fd_ostream(fd, /*shouldClose=*/true) << text;
    good = list.read(path.str().str());
    llvm::sys::fs::remove(path);
  }
  Equivalents list;
  bool good = false;
};

TEST(Equivalents, NamesDoNotCountWhatIsElsewhere) {
  Mutation first = mutation("barrier", "without `bar.sync` at k.tile:1");
  Mutation second = mutation("barrier", "without `bar.sync` at k.tile:2");
  Mutation third = mutation("barrier", "without `bar.sync` at k.tile:2");
  std::vector<Names> few = namesOf({second, third}, "dir/k.tile", lines, "f", 2);
  std::vector<Names> more = namesOf({first, second, third}, "dir/k.tile", lines, "f", 2);
  EXPECT_EQ(few[1], more[2]);
  EXPECT_EQ(few[1].front(), "barrier: k.tile: f#2: without `bar.sync` (2 of 2): y = dot(x, x)");
  EXPECT_EQ(few[1].back(), "barrier: k.tile: f: without `bar.sync`");
}

TEST(Equivalents, ALineOfAnotherFileIsNotQuoted) {
  Mutation m = mutation("fence", "without `fence` at other.tile:1");
  EXPECT_EQ(namesOf({m}, "k.tile", lines, "f", 1)[0].front(),
            "fence: k.tile: f#1: without `fence` (1 of 1)");
}

TEST(Equivalents, NumbersOfValuesAreNoPartOfAName) {
  Mutation m = mutation("lane bit", "a shift by one more than 1:  %53 = shl nuw nsw i32 %34, 1");
  EXPECT_EQ(namesOf({m}, "k.tile", lines, "f", 1)[0].back(),
            "lane bit: k.tile: f: a shift by one more than 1");
}

TEST(Equivalents, AnEntryHoldsForWhatItNames) {
  ListFile file("# a comment\n\nbarrier: k.tile: f: without `bar`: x = load(p) | why\n");
  ASSERT_TRUE(file.good);
  std::vector<Names> names = namesOf({mutation("barrier", "without `bar` at k.tile:1"),
                                      mutation("barrier", "without `bar` at k.tile:2")},
                                     "k.tile", lines, "f", 3);
  EXPECT_EQ(file.list.reasonOf(names[0]), "why");
  EXPECT_EQ(file.list.reasonOf(names[1]), "");
}

TEST(Equivalents, AnEntryThatNamesNothingIsStale) {
  ListFile file("barrier: k.tile: f: without `bar` | why\nfence: k.tile: f: without `f` | why\n"
                "wait: other.tile: g: without `w` | why\n");
  ASSERT_TRUE(file.good);
  file.list.meet(
      namesOf({mutation("barrier", "without `bar` at k.tile:1")}, "k.tile", lines, "f", 1)[0]);
  EXPECT_EQ(file.list.stale("dir/k.tile"),
            std::vector<std::string>{"fence: k.tile: f: without `f`"});
}

TEST(Equivalents, AnEntryNeedsAReason) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(ListFile("barrier: k.tile: f: without `bar`\n").good);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no reason"), std::string::npos);
}

} // namespace
