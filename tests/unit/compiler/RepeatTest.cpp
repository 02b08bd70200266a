//===- RepeatTest.cpp - a kernel's code does not depend on those before it ===//
//
// A compiler keeps its passes from one kernel to the next. What one of them
// remembered of an earlier kernel would show by chance, where operations lie at
// addresses that others had: so several kernels in many orders.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compiler.h"
#include "frontend/Source.h"
#include "gtest/gtest.h"
#include <map>

using namespace tile;

namespace {

/// Rows of 16 bits that are needed again behind two reductions.
const char *const kSoftmax = R"(
import triton
import triton.language as tl

@triton.jit
def softmax(x: "*fp16:16", out: "*fp16:16", columns: "i32:16", BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    v = tl.load(x + row * columns + column, mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + column, e / tl.sum(e, axis=0), mask)
)";

TEST(Repeat, SameCodeInAnyOrder) {
  frontend::SourceFile file("softmax.tile", kSoftmax);
  Compiler compiler;
  std::map<std::pair<int, int>, std::string> first;
  for (int i = 0; i < 150; ++i) {
    int pick = (i * i + i / 7) % 8, block = 2048 << pick % 4, warps = 4 << pick / 4;
    CompileOptions options;
    options.constexprs = {{"BLOCK", std::to_string(block)}};
    options.numWarps = warps;
    options.stopAfter = Stage::Cta;
    CompileResult result = compiler.compile(file, options);
    ASSERT_TRUE(result.ok()) << result.diagnostics.str();
    std::string &expected = first.try_emplace({block, warps}, result.output).first->second;
    ASSERT_EQ(result.output, expected)
        << "BLOCK " << block << ", " << warps << " warps, compile " << i;
  }
}

/// Nor do the operands of a product stand in the order of their addresses.
TEST(Repeat, RowsCopiedAhead) {
  std::string error, first;
  auto file = frontend::SourceFile::open(KERNELS "/layer_norm.tile", error);
  ASSERT_TRUE(file) << error;
  Compiler compiler;
  CompileOptions options;
  options.kernel = "layer_norm_stream";
  for (int i = 0; i < 20; ++i) {
    CompileResult result = compiler.compile(*file, options);
    ASSERT_TRUE(result.ok()) << result.diagnostics.str();
    if (i == 0)
      first = result.output;
    ASSERT_EQ(result.output, first) << "compile " << i;
  }
}

} // namespace
