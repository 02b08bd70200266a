//===- CompileServiceTest.cpp - compiling through memory and disk ---------===//
#include "runtime/CompileService.h"
#include "MockCompiler.h"
#include "TestSupport.h"
#include "llvm/Support/raw_ostream.h"
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

TEST_F(CompileServiceTest, EntryWithUnreadableMetadataRecompiles) {
  auto compiler = service();
  std::string key = kernelKey(file.text(), {});
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
  EXPECT_THAT(compiler.cache().warning(), HasSubstr("not written"));
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
