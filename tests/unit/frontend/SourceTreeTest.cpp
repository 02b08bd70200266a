//===- SourceTreeTest.cpp - every kernel file here is well-formed ---------===//
#include "ParseHelpers.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tile::frontend;

namespace {

TEST(SourceTree, EveryKernelFileParses) {
  unsigned files = 0;
  for (const char *folder : {"kernels", "benchmarks"}) {
    std::error_code error;
    llvm::sys::fs::recursive_directory_iterator it(std::string(TILE_SOURCE_DIR "/") + folder,
                                                   error);
    for (; it != llvm::sys::fs::recursive_directory_iterator() && !error; it.increment(error)) {
      llvm::StringRef path = it->path();
      // Files named like this are malformed on purpose.
      if (path.contains("invalid") || path.contains("malformed") || path.contains("syntax"))
        continue;
      if (!path.ends_with(".tile") && !path.ends_with(".py"))
        continue;
      std::string problem;
      auto file = SourceFile::open(path, problem);
      ASSERT_NE(file, nullptr) << problem;
      DiagnosticEngine diagnostics;
      parse(*file, diagnostics);
      EXPECT_EQ(diagnostics.str(), "") << path.str();
      ++files;
    }
  }
  EXPECT_GE(files, 10u);
}

} // namespace
