//===- ProgramTest.cpp - whole kernels: memory, masks, control flow -------===//
#include "InterpTest.h"
#include <cfenv>
#include <numeric>

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

const char *vectorAdd = R"mlir(
func.func @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %out: !tile.ptr<f32>, %n: i32) {
  %c128 = arith.constant 128 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %c128 : i32
  %r = tile.make_range 0 to 128 : tensor<128xi32>
  %s = tile.splat %start : i32 -> tensor<128xi32>
  %o = arith.addi %s, %r : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %o, %ns : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %xv = tile.load %xp, %m : tensor<128x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %yv = tile.load %yp, %m : tensor<128x!tile.ptr<f32>>
  %z = arith.addf %xv, %yv : tensor<128xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %op = tile.addptr %os, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %op, %z, %m : tensor<128x!tile.ptr<f32>>
  return
}
)mlir";

TEST(Program, VectorAddOverAwkwardSizes) {
  auto program = compile(vectorAdd);
  ASSERT_TRUE(program);
  for (int n : {0, 1, 2, 127, 128, 129, 1000, 4096}) {
    std::vector<float> x(n), y(n), out(n + 8, -7.0f);
    std::iota(x.begin(), x.end(), 0.5f);
    std::iota(y.begin(), y.end(), 100.0f);
    Report report = program->run({uint32_t(n + 127) / 128, 1, 1},
                                 {toArgument(x), toArgument(y), toArgument(out), toArgument(n)});
    EXPECT_TRUE(report.ok()) << report.str();
    for (int k = 0; k < n; ++k)
      ASSERT_EQ(out[k], x[k] + y[k]) << n << " " << k;
    for (int k = n; k < n + 8; ++k)
      ASSERT_EQ(out[k], -7.0f) << "masked lanes touch nothing";
  }
}

/// The caller's rounding mode changes nothing, and is back afterwards.
TEST(Program, RunsInTheDefaultFloatingPointEnvironment) {
  std::vector<float> x = {1.0f, 0x1p-140f}, y = {0x1p-24f, 0x1p-149f}, r(2);
  std::string text =
      blockKernel(2, {"f32", "f32"}, "f32", "%r = arith.addf %x0, %x1 : tensor<2xf32>");
  std::fesetround(FE_UPWARD);
  Report report = runText(text, Grid(), x, y, r);
  int mode = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(mode, FE_UPWARD);
  EXPECT_EQ(r[0], 1.0f) << "a tie, to even";
  EXPECT_EQ(r[1], 0x1p-140f + 0x1p-149f);
}

} // namespace
