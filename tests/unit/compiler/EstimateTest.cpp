//===- EstimateTest.cpp - the cost model ranks as chips do ----------------===//
//
// No numbers of chips: only orders and proportions that no chip can have otherwise.
//
//===----------------------------------------------------------------------===//
#include "compiler/Estimate.h"
#include "gtest/gtest.h"

using namespace tile;

namespace {

const char *const text = R"(
import triton
import triton.language as tl

@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n), i < n)

@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :])
        y = tl.load(b + k[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))
)";

class Estimate : public testing::Test {
protected:
  std::optional<double> copy(int64_t n, int block, int warps = 4, const char *device = "h200") {
    ExplainOptions options;
    options.compile.kernel = "copy";
    options.compile.signature = "*fp32:16,*fp32:16,i32:16";
    options.compile.constexprs = {{"BLOCK", std::to_string(block)}};
    options.compile.numWarps = warps;
    return run(options, {uint32_t((n + block - 1) / block)}, device);
  }
  std::optional<double> product(int64_t M, int64_t N, int64_t K, int bm, int bn, int bk, int warps,
                                int stages = 3, const char *device = "h200") {
    ExplainOptions options;
    options.compile = optionsOf(bm, bn, bk, warps, stages);
    options.values = {{"M", M}, {"N", N}, {"K", K}};
    return run(options, {uint32_t((M + bm - 1) / bm), uint32_t((N + bn - 1) / bn)}, device);
  }
  static CompileOptions optionsOf(int bm, int bn, int bk, int warps, int stages) {
    CompileOptions options;
    options.kernel = "product";
    options.signature = "*fp16:16,*fp16:16,*fp16:16,i32:16,i32:16,i32:16";
    options.constexprs = {
        {"BM", std::to_string(bm)}, {"BN", std::to_string(bn)}, {"BK", std::to_string(bk)}};
    options.numWarps = warps;
    options.numStages = stages;
    return options;
  }
  std::optional<double> run(ExplainOptions options, std::vector<uint32_t> grid,
                            const char *device) {
    const DeviceModel *model = findDevice(device);
    options.device = device;
    options.compile.target = targetOf(*model);
    auto estimate = estimateLaunch(compiler, file, options, grid);
    return estimate ? std::optional(estimate->seconds) : std::nullopt;
  }
  Compiler compiler;
  frontend::SourceFile file{"k.tile", text};
};

TEST_F(Estimate, CopiesTakeAsLongAsMemoryNeeds) {
  int64_t n = int64_t(1) << 28;
  double bytes = 8.0 * double(n);
  EXPECT_GT(*copy(n, 1024), bytes / 4.8e12) << "nothing is faster than the data sheet";
  EXPECT_LT(*copy(n, 1024), 1.3 * bytes / 4.8e12);
  EXPECT_GT(*copy(n, 1024, 4, "a100"), 2 * *copy(n, 1024)) << "slower memory";
  EXPECT_GT(*copy(n, 32, 1), 1.5 * *copy(n, 1024)) << "too little in flight";
  EXPECT_LT(*copy(1024, 1024), 10e-6) << "a launch and one program";
}

TEST_F(Estimate, LargeProductsWantLargeBlocks) {
  auto large = [&](int bm, int bn, int bk, int warps) {
    return *product(4096, 4096, 4096, bm, bn, bk, warps);
  };
  double operations = 2.0 * 4096 * 4096 * 4096;
  EXPECT_GT(large(128, 256, 64, 8), operations / 989e12);
  EXPECT_LT(large(128, 256, 64, 8), 2 * operations / 989e12);
  EXPECT_GT(large(64, 64, 32, 4), 1.3 * large(128, 256, 64, 8));
  EXPECT_GT(large(32, 32, 32, 4), 2 * large(128, 128, 64, 8));
}

TEST_F(Estimate, FewRowsWantManyPrograms) {
  EXPECT_LT(*product(16, 4096, 4096, 16, 64, 64, 4), *product(16, 4096, 4096, 128, 256, 64, 8))
      << "16 programs leave most of the chip idle";
  EXPECT_LT(*product(512, 512, 512, 64, 64, 64, 4), *product(512, 512, 512, 128, 256, 64, 8));
}

TEST_F(Estimate, OneProgramTooManyIsARoundMore) {
  ASSERT_EQ(findDevice("h200")->multiprocessors, 11 * 12);
  double one = *product(128 * 11, 256 * 12, 4096, 128, 256, 64, 8);
  double more = *product(128 * 7, 256 * 19, 4096, 128, 256, 64, 8);
  EXPECT_GT(more, 1.7 * one);
}

TEST_F(Estimate, ProgramsShareOnlyWhatTheyLoadAlike) {
  double weights = 2.0 * 8192 * 8192;
  EXPECT_GT(*product(16, 8192, 8192, 64, 64, 64, 4), weights / 4.8e12)
      << "one row of programs, each with columns of its own";
  EXPECT_LT(*product(512, 8192, 8192, 64, 64, 64, 4), 8 * weights / 4.8e12)
      << "eight programs share each of them";
}

TEST_F(Estimate, RowsOfLessThanALineTakeAsLong) {
  auto linesOfBytes = [&](int bk) {
    ExplainOptions options;
    options.compile = optionsOf(128, 128, bk, 8, 4);
    options.compile.target = "sm_90a";
    options.onlyLaidOut = true;
    CompileResult result;
    Explanation explanation;
    EXPECT_TRUE(explain(compiler, file, options, result, explanation));
    const Work &turn = explanation.loops.back().each;
    return turn.lines / turn.read;
  };
  EXPECT_DOUBLE_EQ(linesOfBytes(64), 1);
  EXPECT_DOUBLE_EQ(linesOfBytes(32), 1.5) << "rows of 64 bytes on the left";
}

TEST_F(Estimate, StagesHideLoads) {
  EXPECT_LT(*product(64, 64, 8192, 64, 64, 32, 4, 4, "a100"),
            *product(64, 64, 8192, 64, 64, 32, 4, 2, "a100"));
}

TEST_F(Estimate, NothingOfWhatDoesNotCompileOrOfUnknownChips) {
  EXPECT_FALSE(copy(1024, 1024, 3)) << "three warps";
  EXPECT_FALSE(estimateLaunch(Explanation(), {1, 1, 1})) << "no device";
}

} // namespace
