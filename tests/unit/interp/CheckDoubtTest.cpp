//===- CheckDoubtTest.cpp - values in doubt that checked programs report -===//
#include "Checked.h"

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

//===----------------------------------------------------------------------===//
// Shifts too far
//===----------------------------------------------------------------------===//

/// out[i] = what the body makes of the amounts %a = in[i] and the ones %one.
std::string shiftKernel(const std::string &body) {
  return R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x"), %q: !tile.ptr<i32> loc("out")) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %one = arith.constant dense<1> : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %w = arith.constant dense<32> : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %xa = tile.addptr %xs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %a = tile.load %xa : tensor<4x!tile.ptr<i32>>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %qa = tile.addptr %qs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
)mlir" + body +
         "\n  return\n}";
}

Report runShift(const std::string &body, std::vector<int32_t> amounts = {0, 31, 32, -1}) {
  Checked c;
  std::vector<int32_t> out(4);
  c.add(amounts, "x"), c.add(out, "out");
  return c.run(shiftKernel(body), {1}, amounts, out);
}

const char *shiftAndStore = "  %v = arith.shli %one, %a : tensor<4xi32>\n"
                            "  tile.store %qa, %v : tensor<4x!tile.ptr<i32>>";

TEST(CheckShifts, WhatIsStoredIsReportedAtTheShift) {
  Report report = runShift(shiftAndStore);
  expectOne(report, FindingKind::ShiftTooFar, 12, 0, 2);
  EXPECT_EQ(report.findings[0].occurrences, 2u);
  EXPECT_TRUE(runShift(shiftAndStore, {0, 1, 30, 31}).ok());
}

TEST(CheckShifts, LanesThatAreClearedAreFine) {
  for (const char *clear : {"  %ok = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                            "  %v = arith.shrsi %one, %a : tensor<4xi32>\n"
                            "  %r = arith.select %ok, %v, %zero : tensor<4xi1>, tensor<4xi32>\n"
                            "  tile.store %qa, %r : tensor<4x!tile.ptr<i32>>",
                            "  %ok = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                            "  %v = arith.shli %one, %a : tensor<4xi32>\n"
                            "  tile.store %qa, %v, %ok : tensor<4x!tile.ptr<i32>>",
                            "  %ok = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                            "  %m = arith.extui %ok : tensor<4xi1> to tensor<4xi32>\n"
                            "  %v = arith.shli %one, %a : tensor<4xi32>\n"
                            "  %r = arith.muli %v, %m : tensor<4xi32>\n"
                            "  tile.store %qa, %r : tensor<4x!tile.ptr<i32>>",
                            "  %ok = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                            "  %v = arith.shli %one, %a : tensor<4xi32>\n"
                            "  %big = arith.cmpi sgt, %v, %zero : tensor<4xi32>\n"
                            "  %both = arith.andi %big, %ok : tensor<4xi1>\n"
                            "  tile.store %qa, %one, %both : tensor<4x!tile.ptr<i32>>"}) {
    Report report = runShift(clear);
    EXPECT_TRUE(report.ok()) << report.str() << clear;
  }
}

TEST(CheckShifts, TheyAreFollowedToMasksAddressesAndConditions) {
  std::string shift = "  %v = arith.shli %one, %a : tensor<4xi32>\n";
  for (const char *use : {"  %m = arith.cmpi sgt, %v, %zero : tensor<4xi32>\n"
                          "  tile.store %qa, %one, %m : tensor<4x!tile.ptr<i32>>",
                          "  %n = arith.andi %v, %zero : tensor<4xi32>\n"
                          "  %o = arith.ori %v, %n : tensor<4xi32>\n"
                          "  %s = tile.reduce %o {axis = 0 : i32} : tensor<4xi32> -> i32 {\n"
                          "  ^bb0(%l: i32, %r: i32):\n    %t = arith.addi %l, %r : i32\n"
                          "    tile.yield %t : i32\n  }\n"
                          "  tile.store %q, %s : !tile.ptr<i32>"}) {
    Report report = runShift(shift + use);
    EXPECT_TRUE(!report.ok() && report.findings[0].kind == FindingKind::ShiftTooFar)
        << report.str() << use;
  }
}

/// A value that a loop carries and a branch gives.
TEST(CheckShifts, TheyAreFollowedThroughLoopsAndBranches) {
  auto kernel = [](int amount) {
    return "func.func @k(%q: !tile.ptr<i32>, %n: i32) {\n"
           "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n"
           "  %c3 = arith.constant 3 : i32\n  %far = arith.constant " +
           std::to_string(amount) +
           " : i32\n"
           "  %s = arith.addi %n, %far : i32\n"
           "  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %c1) -> (i32) : i32 {\n"
           "    %first = arith.cmpi eq, %i, %c0 : i32\n"
           "    %w = scf.if %first -> (i32) {\n"
           "      %x = arith.shli %v, %s : i32\n      scf.yield %x : i32\n"
           "    } else {\n      scf.yield %v : i32\n    }\n"
           "    scf.yield %w : i32\n  }\n"
           "  tile.store %q, %r : !tile.ptr<i32>\n  return\n}";
  };
  for (int amount : {5, 40}) {
    Checked c;
    std::vector<int32_t> out(1);
    c.add(out, "out");
    Report report = c.run(kernel(amount), {1}, out, 0);
    EXPECT_EQ(report.ok(), amount < 32) << report.str();
    if (!report.ok())
      EXPECT_EQ(report.findings[0].place.line, 10u) << report.str();
  }
}

//===----------------------------------------------------------------------===//
// Lanes that are divided by zero
//===----------------------------------------------------------------------===//

TEST(CheckDivisors, LanesThatAreUsedAreReportedAtTheDivision) {
  for (const char *op : {"divsi", "divui", "remsi", "remui"}) {
    std::string store = std::string("  %v = arith.") + op +
                        " %one, %a : tensor<4xi32>\n"
                        "  tile.store %qa, %v : tensor<4x!tile.ptr<i32>>";
    Report report = runShift(store, {3, 0, 7, 0});
    expectOne(report, FindingKind::DivisionByZero, 12, 0, 1);
    EXPECT_EQ(report.findings[0].occurrences, 2u);
    EXPECT_TRUE(runShift(store, {3, 1, 7, -1}).ok());
  }
}

TEST(CheckDivisors, LanesThatAreClearedAreFine) {
  std::string divide = "  %v = arith.divsi %one, %a : tensor<4xi32>\n"
                       "  %ok = arith.cmpi ne, %a, %zero : tensor<4xi32>\n";
  for (const char *use : {"  tile.store %qa, %v, %ok : tensor<4x!tile.ptr<i32>>",
                          "  %r = arith.select %ok, %v, %zero : tensor<4xi1>, tensor<4xi32>\n"
                          "  tile.store %qa, %r : tensor<4x!tile.ptr<i32>>",
                          "  %big = arith.cmpi sgt, %v, %zero : tensor<4xi32>\n"
                          "  %both = arith.andi %big, %ok : tensor<4xi1>\n"
                          "  tile.store %qa, %one, %both : tensor<4x!tile.ptr<i32>>"})
    EXPECT_TRUE(runShift(divide + use, {3, 0, 7, 0}).ok()) << use;
}

//===----------------------------------------------------------------------===//
// Histograms, constants
//===----------------------------------------------------------------------===//

TEST(CheckHistogram, ValuesOutsideOfTheBinsAreReported) {
  std::string body = "  %h = tile.histogram %a : tensor<4xi32> -> tensor<4xi32>\n"
                     "  tile.store %qa, %h : tensor<4x!tile.ptr<i32>>";
  expectOne(runShift(body, {0, 3, 4, -1}), FindingKind::OutOfBounds, 12, 0, 2);
  EXPECT_TRUE(runShift(body, {0, 3, 1, 1}).ok());
  std::string masked = "  %m = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                       "  %h = tile.histogram %a, %m : tensor<4xi32> -> tensor<4xi32>\n"
                       "  tile.store %qa, %h : tensor<4x!tile.ptr<i32>>";
  EXPECT_TRUE(runShift(masked, {0, 3, 32, -1}).ok());
}

TEST(CheckConstants, WritingThroughACastIsReported) {
  auto kernel = [](const char *type) {
    return std::string("func.func @k(%x: !tile.ptr<i32> {tile.source_type = \"") + type +
           "\"} loc(\"x\")) {\n"
           "  %c = arith.constant 1 : i32\n"
           "  %n = tile.ptr_to_int %x : !tile.ptr<i32> -> i64\n"
           "  %p = tile.int_to_ptr %n : i64 -> !tile.ptr<i32>\n"
           "  tile.store %p, %c : !tile.ptr<i32>\n  return\n}";
  };
  for (bool isConstant : {true, false}) {
    Checked c;
    std::vector<int32_t> x(1);
    c.add(x, "x");
    Report report = c.run(kernel(isConstant ? "*ki32" : "*i32"), {1}, x);
    if (isConstant)
      expectOne(report, FindingKind::ConstantWritten, 5, 0, 0);
    else
      EXPECT_TRUE(report.ok()) << report.str();
  }
}

} // namespace
