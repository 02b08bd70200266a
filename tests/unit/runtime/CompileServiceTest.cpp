//===- CompileServiceTest.cpp - compiling through memory and disk ---------===//
#include "runtime/CompileService.h"
#include "MockCompiler.h"
#include "TestSupport.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

using namespace tile;
using namespace tile::test;
using frontend::SourceFile;

namespace {

class CompileServiceTest : public testing::Test {
protected:
  CompileServiceTest() {
    mockCompilations = 0;
    mockDependencies.clear();
    mockMilliseconds = 0;
  }
  /// A service as a new process would make it: same folder, empty memory.
  std::unique_ptr<CompileService> service() {
    return std::make_unique<CompileService>(mockCompile, folder.path.str().str());
  }
  std::string write(const char *name, llvm::StringRef text) {
    std::string path = folder.path.str().str() + "/" + name;
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << text;
    return path;
  }
  TemporaryFolder folder;
  SourceFile file{"k.tile", "fine"};
};

TEST_F(CompileServiceTest, MemoryThenDiskThenCompiler) {
  auto first = service();
  CompiledKernelPtr kernel = valueOf(first->compile(file, {}));
  EXPECT_FALSE(kernel->fromCache);
  EXPECT_EQ(valueOf(first->compile(file, {})), kernel) << "from memory";
  EXPECT_EQ(mockCompilations, 1);

  CompiledKernelPtr again = valueOf(service()->compile(file, {}));
  EXPECT_EQ(mockCompilations, 1) << "from disk";
  EXPECT_TRUE(again->fromCache);
  EXPECT_EQ(again->ptx, kernel->ptx);
  EXPECT_EQ(again->metadata.toJson(), kernel->metadata.toJson());
  EXPECT_EQ(again->compileMilliseconds, 0);
}

TEST_F(CompileServiceTest, OptionsAndTextsAreApart) {
  auto compiler = service();
  CompileOptions wide;
  wide.numWarps = 8;
  EXPECT_EQ(valueOf(compiler->compile(file, {}))->metadata.threads, 128);
  EXPECT_EQ(valueOf(compiler->compile(file, wide))->metadata.threads, 256);
  SourceFile other("k.tile", "other");
  valueOf(compiler->compile(other, {}));
  EXPECT_EQ(mockCompilations, 3);
}

TEST_F(CompileServiceTest, ErrorsAreTheDiagnosticsAndAreNotKept) {
  auto compiler = service();
  SourceFile wrong("k.tile", "x = error\n");
  for (int i = 1; i <= 2; ++i) {
    ErrorParts error = errorOf(compiler->compile(wrong, {}));
    EXPECT_EQ(error.code, ErrorCode::Compile);
    EXPECT_THAT(error.message, HasSubstr("k.tile:1:5: error: this is wrong"));
    EXPECT_THAT(error.message, HasSubstr("x = error"));
    EXPECT_EQ(mockCompilations, i);
  }
  SourceFile early("k.tile", "unsupported");
  EXPECT_EQ(errorOf(compiler->compile(early, {})).code, ErrorCode::Unsupported);
}

TEST_F(CompileServiceTest, WarningsAreKept) {
  SourceFile careless("k.tile", "careless");
  valueOf(service()->compile(careless, {}));
  EXPECT_THAT(valueOf(service()->compile(careless, {}))->diagnostics,
              HasSubstr("this is careless"));
  EXPECT_EQ(mockCompilations, 1);
}

TEST_F(CompileServiceTest, ChangedDependencyRecompiles) {
  std::string imported = write("helper.tile", "one");
  mockDependencies = {imported};
  valueOf(service()->compile(file, {}));
  valueOf(service()->compile(file, {}));
  EXPECT_EQ(mockCompilations, 1);
  write("helper.tile", "two");
  valueOf(service()->compile(file, {}));
  EXPECT_EQ(mockCompilations, 2);
  valueOf(service()->compile(file, {}));
  EXPECT_EQ(mockCompilations, 2) << "the new entry replaced the old one";
  llvm::sys::fs::remove(imported);
  valueOf(service()->compile(file, {}));
  EXPECT_EQ(mockCompilations, 3);
}

/// What a change of an imported file does to a service that has been running and to
/// a new process: both compile once more, the second from the new entry.
TEST_F(CompileServiceTest, AChangedDependencyCountsInARunningProcess) {
  std::string imported = write("helper.tile", "one");
  mockDependencies = {imported};
  auto running = service();
  CompiledKernelPtr first = valueOf(running->compile(file, {}));
  EXPECT_EQ(valueOf(running->compile(file, {})), first);
  write("helper.tile", "two");
  CompiledKernelPtr second = valueOf(running->compile(file, {}));
  EXPECT_NE(second, first);
  EXPECT_EQ(mockCompilations, 2);
  EXPECT_EQ(valueOf(running->compile(file, {})), second);
  valueOf(service()->compile(file, {}));
  EXPECT_EQ(mockCompilations, 2);
}

/// Neither size nor time of a file says that it is as it was.
TEST_F(CompileServiceTest, AChangeThatHidesCounts) {
  std::string imported = write("helper.tile", "one");
  mockDependencies = {imported};
  auto running = service();
  struct stat before = {};
  ASSERT_EQ(stat(imported.c_str(), &before), 0);
  valueOf(running->compile(file, {}));
  valueOf(running->compile(file, {}));
  write("helper.tile", "two");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, imported.c_str(), times, 0), 0);
  valueOf(running->compile(file, {}));
  EXPECT_EQ(mockCompilations, 2);
}

TEST_F(CompileServiceTest, AFileThatAppearsCounts) {
  std::string missing = folder.path.str().str() + "/fast.tile";
  mockDependencies = {missing};
  auto running = service();
  valueOf(running->compile(file, {}));
  valueOf(running->compile(file, {}));
  EXPECT_EQ(mockCompilations, 1);
  write("fast.tile", "V = 1");
  valueOf(service()->compile(file, {}));
  EXPECT_EQ(mockCompilations, 2);
  valueOf(running->compile(file, {}));
  EXPECT_EQ(mockCompilations, 2) << "the other process's entry";
}

TEST_F(CompileServiceTest, FilesOfOneTextInTwoFoldersAreApart) {
  auto running = service();
  CompiledKernelPtr a = valueOf(running->compile(SourceFile("A/k.tile", "fine"), {}));
  CompiledKernelPtr b = valueOf(running->compile(SourceFile("B/k.tile", "fine"), {}));
  EXPECT_NE(a, b);
  EXPECT_EQ(mockCompilations, 2);
}

TEST_F(CompileServiceTest, AnEntryWithDamagedDependenciesRecompiles) {
  auto compiler = service();
  valueOf(compiler->compile(file, {}));
  std::string key = kernelKey(file, forLaunch({}));
  CacheEntry entry = *compiler->cache().lookup(key);
  entry.sections["dependencies"] = "no end";
  compiler->cache().store(key, entry);
  EXPECT_FALSE(valueOf(service()->compile(file, {}))->fromCache);
}

TEST_F(CompileServiceTest, WhoWaitsDoesNotGetWhatBeganBeforeAChange) {
  std::string imported = write("helper.tile", "one");
  mockDependencies = {imported};
  mockMilliseconds = 100;
  auto running = service();
  CompiledKernelPtr early, late;
  std::thread first([&] { early = valueOf(running->compile(file, {})); });
  while (mockCompilations == 0)
    std::this_thread::yield();
  // It has read its imports.
  write("helper.tile", "two");
  std::thread second([&] { late = valueOf(running->compile(file, {})); });
  first.join();
  second.join();
  EXPECT_EQ(early->dependencies[0].state, frontend::contentState("one"));
  EXPECT_EQ(late->dependencies[0].state, frontend::contentState("two"));
}

/// Which of the two kernels a launch runs depends on its arguments: they must not
/// differ in anything else.
TEST_F(CompileServiceTest, TheKernelWithoutTensorMapsIsOfTheSameFiles) {
  std::string imported = write("helper.tile", "one");
  mockDependencies = {imported};
  auto running = service();
  CompiledKernelPtr kernel = valueOf(running->compile(SourceFile("k.tile", "tensor map"), {}));
  ASSERT_TRUE(kernel->withoutTensorMaps);
  EXPECT_NE(valueOf(kernel->withoutTensorMaps()), kernel);
  write("helper.tile", "two");
  EXPECT_THAT(errorOf(kernel->withoutTensorMaps()).message,
              HasSubstr("a file that `scale` imports has changed"));
}

TEST_F(CompileServiceTest, FormsForFewProgramsAreMadeWhereTheyGain) {
  auto running = service();
  SourceFile source("k.tile", "few programs");
  CompiledKernelPtr kernel = valueOf(running->compile(source, {}));
  ASSERT_TRUE(kernel->alone);
  CompiledKernelPtr few = valueOf(kernel->alone());
  EXPECT_EQ(few->metadata.sharedBytes, 1024) << "not what the cache has of the other";
  EXPECT_FALSE(few->alone) << "it is for few itself";
  CompileOptions many;
  many.programs = GridPrograms::Many;
  EXPECT_FALSE(valueOf(running->compile(source, many))->alone) << "nobody chooses";
  EXPECT_FALSE(valueOf(running->compile(SourceFile("k.tile", "tensor map"), {}))->alone);
}

/// Called long after the kernel was compiled, by launches.
TEST_F(CompileServiceTest, FormsForMultiplesAreMadeWhereTheyGain) {
  auto running = service();
  SourceFile source("k.tile", "multiples");
  CompiledKernelPtr kernel = valueOf(running->compile(source, {}));
  ASSERT_TRUE(kernel->forMultiples);
  CompiledKernelPtr known = valueOf(kernel->forMultiples({{1, 4}}));
  EXPECT_NE(known, kernel);
  EXPECT_EQ(known->metadata.sharedBytes, 4) << "what the promise made of it";
  EXPECT_FALSE(known->forMultiples) << "it is one";
  EXPECT_EQ(known->metadata.params[1].multiple, 1);
  EXPECT_NE(valueOf(kernel->forMultiples({{1, 2}})), known);
  EXPECT_EQ(valueOf(kernel->forMultiples({{1, 4}})), known);
}

TEST_F(CompileServiceTest, NoFormsForMultiplesOfWhatIsNotToBeLookedAt) {
  auto running = service();
  SourceFile source("k.tile", "multiples");
  CompileOptions options;
  options.multiples = {{1, 1}};
  EXPECT_FALSE(valueOf(running->compile(source, options))->forMultiples);
  options.multiples = {{0, 1}};
  EXPECT_TRUE(valueOf(running->compile(source, options))->forMultiples);
  options.multiplesAtLaunch = false;
  EXPECT_FALSE(valueOf(running->compile(source, options))->forMultiples);
}

/// What tensor maps copy needs no promise, and what threads copy in their place does.
TEST_F(CompileServiceTest, AFormWithoutTensorMapsLooksAtMultiplesAnew) {
  auto running = service();
  SourceFile source("k.tile", "tensor map multiples");
  CompiledKernelPtr known = valueOf(valueOf(running->compile(source, {}))->forMultiples({{1, 4}}));
  ASSERT_TRUE(known->withoutTensorMaps);
  EXPECT_FALSE(known->forMultiples);
  CompiledKernelPtr without = valueOf(known->withoutTensorMaps());
  EXPECT_FALSE(without->forMultiples) << "of the entry that is known";
  SourceFile two("k.tile", "tensor map multiples of two");
  known = valueOf(valueOf(running->compile(two, {}))->forMultiples({{1, 4}}));
  EXPECT_TRUE(valueOf(known->withoutTensorMaps())->forMultiples);
}

TEST_F(CompileServiceTest, DiagnosticsKeepWhatTheyPointInto) {
  auto compiler = service();
  SourceFile wrong("k.tile", "error in import");
  frontend::DiagnosticEngine diagnostics;
  errorOf(compiler->compile(wrong, {}, &diagnostics));
  EXPECT_FALSE(mockImport.expired());
  EXPECT_THAT(diagnostics.str(), HasSubstr("imported.tile:1:1: error: this is wrong, too"));
}

//===----------------------------------------------------------------------===//
// Room in memory
//===----------------------------------------------------------------------===//

TEST_F(CompileServiceTest, MemoryIsBounded) {
  CompileService compiler(mockCompile, "", {.memoryBytes = 100000});
  auto compileNumber = [&](int i) {
    return valueOf(compiler.compile(SourceFile("k.tile", "fine " + std::to_string(i)), {}));
  };
  for (int i = 0; i < 1000; ++i)
    compileNumber(i);
  EXPECT_LE(compiler.memoryBytes(), 100000u);
  EXPECT_GT(compiler.memoryBytes(), 50000u);
  mockCompilations = 0;
  compileNumber(999);
  EXPECT_EQ(mockCompilations, 0) << "the last used is there";
  compileNumber(0);
  EXPECT_EQ(mockCompilations, 1) << "the first is not";
}

TEST_F(CompileServiceTest, WhatSomebodyHoldsIsNotForgotten) {
  CompileService compiler(mockCompile, "", {.memoryBytes = 1});
  std::shared_ptr<SharedKernel> held = compiler.share(valueOf(compiler.compile(file, {})));
  for (int i = 0; i < 10; ++i)
    valueOf(compiler.compile(SourceFile("k.tile", "other " + std::to_string(i)), {}));
  mockCompilations = 0;
  EXPECT_EQ(compiler.share(valueOf(compiler.compile(file, {}))), held);
  EXPECT_EQ(mockCompilations, 0);
}

TEST_F(CompileServiceTest, EntryWithUnreadableMetadataRecompiles) {
  auto compiler = service();
  std::string key = kernelKey(file, {});
  CacheEntry entry;
  entry.sections["ptx"] = "ptx";
  entry.sections["metadata"] = "{}";
  compiler->cache().store(key, entry);
  EXPECT_FALSE(valueOf(compiler->compile(file, {}))->fromCache);
}

TEST_F(CompileServiceTest, UnwritableCacheStillCompiles) {
  std::string blocked = write("file", "");
  CompileService compiler(mockCompile, blocked + "/cache");
  EXPECT_TRUE(valueOf(compiler.compile(file, {})));
  EXPECT_THAT(compiler.cache().warning(), HasSubstr("not used"));
}

TEST_F(CompileServiceTest, EqualRequestsCompileOnce) {
  auto compiler = service();
  mockMilliseconds = 30;
  std::vector<CompiledKernelPtr> kernels(8);
  std::vector<std::thread> threads;
  for (CompiledKernelPtr &kernel : kernels)
    threads.emplace_back([&] { kernel = valueOf(compiler->compile(file, {})); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(mockCompilations, 1);
  for (const CompiledKernelPtr &kernel : kernels)
    EXPECT_EQ(kernel, kernels[0]);
}

TEST_F(CompileServiceTest, WaitersGetTheErrorToo) {
  auto compiler = service();
  mockMilliseconds = 30;
  SourceFile wrong("k.tile", "error");
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back(
        [&] { failures += errorOf(compiler->compile(wrong, {})).code == ErrorCode::Compile; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 6);
}

} // namespace
