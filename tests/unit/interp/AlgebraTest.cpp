//===- AlgebraTest.cpp - numbers of a ring for floats ----------------------===//
#include "InterpTest.h"

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

/// In the algebraic mode; with `error` a kernel that is refused.
std::unique_ptr<Program> compileAlgebraic(const std::string &text, std::string &error) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context(), "test.mlir");
  if (!module) {
    ADD_FAILURE() << "does not parse:\n" << text;
    return nullptr;
  }
  LoadOptions options;
  options.algebraic = true;
  return Program::load(*module, options, error);
}

template <class... Args> void expectRunsAlgebraic(const std::string &text, Args &&...args) {
  std::string error;
  auto program = compileAlgebraic(text, error);
  ASSERT_TRUE(program) << error;
  std::vector<Argument> list = {toArgument(args)...};
  Report report = program->run(Grid(), list);
  EXPECT_TRUE(report.ok()) << report.str();
}

TEST(Algebra, SumsAndProductsAreOfTheRing) {
  std::vector<uint16_t> a = {0x7fff, 0x1234, 0xffff, 3}, b = {1, 0x1000, 2, 0x5555}, r(4);
  expectRunsAlgebraic(blockKernel(4, {"f16", "f16"}, "f16",
                                  "%s = arith.addf %x0, %x1 : tensor<4xf16>\n"
                                  "%n = arith.negf %s : tensor<4xf16>\n"
                                  "%r = arith.mulf %n, %x1 : tensor<4xf16>"),
                      a, b, r);
  for (int k = 0; k < 4; ++k)
    EXPECT_EQ(r[k], uint16_t(-(a[k] + b[k]) * b[k])) << k;
}

TEST(Algebra, WideningKeepsTheSignAndNarrowingTheLowerBits) {
  std::vector<uint16_t> a = {0x7fff, 0x8000, 0xffff, 5}, back(4);
  std::vector<uint32_t> wide(4);
  expectRunsAlgebraic(
      blockKernel(4, {"bf16"}, "f32", "%r = arith.extf %x0 : tensor<4xbf16> to tensor<4xf32>"), a,
      wide);
  EXPECT_EQ(wide, (std::vector<uint32_t>{0x7fff, 0xffff8000, 0xffffffff, 5}));
  expectRunsAlgebraic(
      blockKernel(4, {"f32"}, "f16", "%r = arith.truncf %x0 : tensor<4xf32> to tensor<4xf16>"),
      wide, back);
  EXPECT_EQ(back, a);
}

TEST(Algebra, ConstantsThatAreWholeAreThemselves) {
  std::vector<uint32_t> a = {0, 1, 7, 0x80000000}, r(4);
  expectRunsAlgebraic(blockKernel(4, {"f32"}, "f32",
                                  "%c = arith.constant dense<-3.0> : tensor<4xf32>\n"
                                  "%l = arith.constant dense<0xFF800000> : tensor<4xf32>\n"
                                  "%p = arith.mulf %x0, %c : tensor<4xf32>\n"
                                  "%r = arith.maxnumf %p, %l : tensor<4xf32>"),
                      a, r);
  EXPECT_EQ(r, (std::vector<uint32_t>{0, uint32_t(-3), uint32_t(-21), 0x80000000}));
}

TEST(Algebra, ZerosOfBothSignsAddNothing) {
  std::vector<uint32_t> a = {0, 1, 7, 0x80000000}, r(4);
  expectRunsAlgebraic(blockKernel(4, {"f32"}, "f32",
                                  "%c = arith.constant dense<-0.0> : tensor<4xf32>\n"
                                  "%r = arith.addf %x0, %c : tensor<4xf32>"),
                      a, r);
  EXPECT_EQ(r, a);
}

TEST(Algebra, FunctionsOfEqualArgumentsAreEqual) {
  std::vector<uint32_t> a = {1, 2, 1, 3}, r(4);
  expectRunsAlgebraic(blockKernel(4, {"f32"}, "f32", "%r = math.sin %x0 : tensor<4xf32>"), a, r);
  EXPECT_EQ(r[0], r[2]);
  EXPECT_NE(r[0], r[1]);
  EXPECT_NE(r[1], r[3]);
}

TEST(Algebra, ProductsAreExactModuloTheirWidth) {
  std::string text = "func.func @k(%a: !tile.ptr<f16>, %c: !tile.ptr<f32>) {\n"
                     "%i = tile.make_range 0 to 4 : tensor<4xi32>\n"
                     "%as = tile.splat %a : !tile.ptr<f16> -> tensor<4x!tile.ptr<f16>>\n"
                     "%ap = tile.addptr %as, %i : tensor<4x!tile.ptr<f16>>, tensor<4xi32>\n"
                     "%x = tile.load %ap : tensor<4x!tile.ptr<f16>>\n"
                     "%m = tile.reshape %x : tensor<4xf16> -> tensor<2x2xf16>\n"
                     "%z = arith.constant dense<0.0> : tensor<2x2xf32>\n"
                     "%d = tile.dot %m, %m, %z : tensor<2x2xf16> * tensor<2x2xf16> -> "
                     "tensor<2x2xf32>\n"
                     "%r = tile.reshape %d : tensor<2x2xf32> -> tensor<4xf32>\n"
                     "%cs = tile.splat %c : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>\n"
                     "%cp = tile.addptr %cs, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>\n"
                     "tile.store %cp, %r : tensor<4x!tile.ptr<f32>>\nreturn\n}\n";
  std::vector<uint16_t> a = {0x7fff, 0x8000, 0x1234, 0xfffe};
  std::vector<uint32_t> r(4);
  expectRunsAlgebraic(text, a, r);
  int64_t m[4];
  for (int k = 0; k < 4; ++k)
    m[k] = int16_t(a[k]);
  EXPECT_EQ(r, (std::vector<uint32_t>{
                   uint32_t(m[0] * m[0] + m[1] * m[2]), uint32_t(m[0] * m[1] + m[1] * m[3]),
                   uint32_t(m[2] * m[0] + m[3] * m[2]), uint32_t(m[2] * m[1] + m[3] * m[3])}));
}

TEST(Algebra, WhatHasNoPlaceIsRefused) {
  std::string error;
  EXPECT_FALSE(
      compileAlgebraic(blockKernel(4, {"f32"}, "f32",
                                   "%n = arith.constant dense<0x7FC00000> : tensor<4xf32>\n"
                                   "%r = arith.addf %x0, %n : tensor<4xf32>"),
                       error));
  EXPECT_NE(error.find("NaN"), std::string::npos) << error;
  EXPECT_FALSE(compileAlgebraic("func.func @k(%x: f32) { return }", error));
  EXPECT_NE(error.find("launch"), std::string::npos) << error;
}

} // namespace
