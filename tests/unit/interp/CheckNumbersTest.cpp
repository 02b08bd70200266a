//===- CheckNumbersTest.cpp - numbers and promises that checked programs report ===//
#include "Checked.h"

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

const char *rowAddress = R"mlir(
func.func @k(%x: !tile.ptr<i8>, %row: i32, %stride: i32) {
  %o = arith.muli %row, %stride : i32
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %os = tile.splat %o : i32 -> tensor<4xi32>
  %all = arith.addi %os, %i : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i8> -> tensor<4x!tile.ptr<i8>>
  %xa = tile.addptr %xs, %all : tensor<4x!tile.ptr<i8>>, tensor<4xi32>
  %v = tile.load %xa : tensor<4x!tile.ptr<i8>>
  return
})mlir";

TEST(Check, AddressArithmeticThatWraps) {
  Checked c;
  std::vector<uint8_t> x(64);
  c.add(x, "x");
  EXPECT_TRUE(c.run(rowAddress, Grid(), x, 3, 16).ok());
  EXPECT_TRUE(c.run(rowAddress, Grid(), x.data() + 32, -2, 16).ok());
  // 65536 * 65536 wraps to 0: in bounds, but not what was meant.
  expectOne(c.run(rowAddress, Grid(), x, 65536, 65536), FindingKind::AddressOverflow, 9, 0, 0);
}

/// The scalar part of an address may wrap too, before it is splat.
TEST(Check, ScalarAddressThatWraps) {
  Checked c;
  std::vector<uint8_t> x(64);
  c.add(x, "x");
  const char *text = R"mlir(
func.func @k(%x: !tile.ptr<i8>, %row: i32, %stride: i32) {
  %o = arith.muli %row, %stride : i32
  %w = arith.extsi %o : i32 to i64
  %p = tile.addptr %x, %w : !tile.ptr<i8>, i64
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<4x!tile.ptr<i8>>
  %pa = tile.addptr %ps, %i : tensor<4x!tile.ptr<i8>>, tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %m = arith.cmpi sge, %i, %two : tensor<4xi32>
  %v = tile.load %pa, %m : tensor<4x!tile.ptr<i8>>
  return
})mlir";
  EXPECT_TRUE(c.run(text, Grid(), x, 3, 16).ok());
  expectOne(c.run(text, Grid(), x, 65536, 65536), FindingKind::AddressOverflow, 11, 0, 2);
}

/// Sums of sums: each value is looked at once, however often it is used.
TEST(Check, SharedAddressArithmetic) {
  std::string text = "func.func @k(%x: !tile.ptr<i8>, %v0: i32) {\n";
  for (int k = 0; k < 40; ++k) {
    std::string from = "%v" + std::to_string(k);
    text += "%v" + std::to_string(k + 1) + " = arith.addi " + from + ", " + from + " : i32\n";
  }
  text += "%p = tile.addptr %x, %v40 : !tile.ptr<i8>, i32\n%v = tile.load %p : !tile.ptr<i8>\n"
          "return\n}";
  Checked c;
  std::vector<uint8_t> x(8);
  c.add(x, "x");
  EXPECT_TRUE(c.run(text, Grid(), x, 0).ok());
  expectOne(c.run(text, Grid(), x, 1), FindingKind::AddressOverflow, 43, 0, 0);
}

/// Hashes wrap on purpose; only what reaches an address by widening counts.
TEST(Check, WrappingThatIsMeant) {
  Checked c;
  std::vector<int32_t> x(16);
  c.add(x, "x");
  Report report = c.run(R"mlir(
func.func @k(%x: !tile.ptr<i32>, %seed: i32) {
  %k = arith.constant 1664525 : i32
  %h = arith.muli %seed, %k : i32
  %fifteen = arith.constant 15 : i32
  %o = arith.andi %h, %fifteen : i32
  %p = tile.addptr %x, %o : !tile.ptr<i32>, i32
  tile.store %p, %h : !tile.ptr<i32>
  return
})mlir",
                        Grid(), x, 0x7fffffff);
  EXPECT_TRUE(report.ok()) << report.str();
}

TEST(Check, DivisionByZero) {
  const char *text = R"mlir(
func.func @k(%a: i32, %b: i32) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %bs = tile.splat %b : i32 -> tensor<4xi32>
  %q = arith.remsi %i, %bs : tensor<4xi32>
  %r = arith.divui %bs, %i : tensor<4xi32>
  return
})mlir";
  Checked c;
  EXPECT_TRUE(c.run(text, Grid(), 1, 3).ok());
  expectOne(c.run(text, Grid(), 1, 0), FindingKind::DivisionByZero, 5, 0, 0);
}

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

TEST(Check, HintsThatDoNotHold) {
  // A block %base + 0, 1, 2, ... or the same divided by %d, with one hint.
  const char *text = R"mlir(
func.func @k(%base: i32, %d: i32) {
  %i = tile.make_range 0 to 8 : tensor<8xi32>
  %b = tile.splat %base : i32 -> tensor<8xi32>
  %x = arith.addi %b, %i : tensor<8xi32>
  %ds = tile.splat %d : i32 -> tensor<8xi32>
  %q = arith.divsi %x, %ds : tensor<8xi32>
  %h = tile.hint %q {HINT} : tensor<8xi32>
  return
})mlir";
  auto run = [&](const char *hint, int base, int divisor) {
    Checked c;
    return c.run(replace(text, "HINT", hint), Grid(), base, divisor);
  };
  EXPECT_TRUE(run("divisibility = array<i64: 16>", 32, 1).ok());
  Report odd = run("divisibility = array<i64: 16>", 33, 1);
  expectOne(odd, FindingKind::BrokenPromise, 8, 0, 0);
  EXPECT_EQ(odd.findings[0].message, "broken promise: this value is no multiple of 16 but is 33");
  EXPECT_TRUE(run("contiguity = array<i64: 8>", 5, 1).ok());
  expectOne(run("contiguity = array<i64: 8>", 4, 2), FindingKind::BrokenPromise, 8, 0, 1);
  EXPECT_TRUE(run("constancy = array<i64: 4>", 0, 4).ok());
  Report uneven = run("constancy = array<i64: 4>", 2, 4);
  expectOne(uneven, FindingKind::BrokenPromise, 8, 0, 2);
  EXPECT_EQ(uneven.findings[0].message,
            "broken promise: this value is not constant in groups of 4 but is 1 after 0");
}

TEST(Check, ArgumentsThatBreakTheirSpecialisation) {
  const char *text = R"mlir(
func.func @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32} loc("x"),
             %n: i32 {tile.divisibility = 16 : i32}) {
  return
})mlir";
  Checked c;
  alignas(16) static float x[8];
  EXPECT_TRUE(c.run(text, Grid(), &x[0], 32).ok());
  Report report = c.run(text, Grid(), &x[0], 33);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].message,
            "broken promise: argument 1 is specialised as a multiple of 16, but is 33");
  report = c.run(text, Grid(), &x[1], 32);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_NE(report.findings[0].message.find("`x` is specialised as a multiple of 16 bytes, but"),
            std::string::npos);
}

} // namespace
