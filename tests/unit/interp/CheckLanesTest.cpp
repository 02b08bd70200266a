//===- CheckLanesTest.cpp - memory that arguments or lanes share ---------===//
#include "Checked.h"

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

//===----------------------------------------------------------------------===//
// Arguments that overlap
//===----------------------------------------------------------------------===//

/// for j < 4: y[j] = x[j] + 1
const char *shiftedCopy = R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x"), %y: !tile.ptr<i32> loc("y")) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  scf.for %j = %c0 to %c4 step %c1 : i32 {
    %xa = tile.addptr %x, %j : !tile.ptr<i32>, i32
    %v = tile.load %xa : !tile.ptr<i32>
    %w = arith.addi %v, %c1 : i32
    %ya = tile.addptr %y, %j : !tile.ptr<i32>, i32
    tile.store %ya, %w : !tile.ptr<i32>
  }
  return
})mlir";

TEST(CheckOverlap, AReadOfWhatAnotherArgumentHasWritten) {
  Checked c;
  std::vector<int32_t> b(8);
  c.add(b, "b");
  Report report = c.run(shiftedCopy, {1}, b, b.data() + 1);
  expectOne(report, FindingKind::Overlap, 8, 0, 0);
  EXPECT_EQ(report.findings[0].otherPlace.line, 11u);
  EXPECT_NE(report.findings[0].message.find("through `x` what the program has written through `y`"),
            std::string::npos)
      << report.str();
}

TEST(CheckOverlap, InPlaceAndApartAreFine) {
  std::vector<int32_t> b(8);
  for (size_t at : {size_t(0), size_t(4)}) {
    Checked c;
    c.add(b, "b");
    Report report = c.run(shiftedCopy, {1}, b, b.data() + at);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

//===----------------------------------------------------------------------===//
// Lanes of one program
//===----------------------------------------------------------------------===//

/// y[i] = x[i] for four lanes, BETWEEN, and then the lanes load y by `%o`, which is LANES.
static std::string throughMemory(llvm::StringRef between, llvm::StringRef lanes) {
  return (R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x"), %y: !tile.ptr<i32> loc("y")) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %c3 = arith.constant dense<3> : tensor<4xi32>
  %r = arith.subi %c3, %i : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %xa = tile.addptr %xs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v = tile.load %xa : tensor<4x!tile.ptr<i32>>
  %ys = tile.splat %y : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %ya = tile.addptr %ys, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  tile.store %ya, %v : tensor<4x!tile.ptr<i32>>
)mlir" + between +
          R"mlir(
  %yb = tile.addptr %ys, )mlir" +
          lanes + R"mlir( : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %w = tile.load %yb : tensor<4x!tile.ptr<i32>>
  tile.store %xa, %w : tensor<4x!tile.ptr<i32>>
  return
})mlir")
      .str();
}

TEST(CheckLanes, AReadOfWhatAnotherLaneHasWritten) {
  Checked c;
  std::vector<int32_t> x(4), y(4);
  c.add(x, "x");
  c.add(y, "y");
  Report report = c.run(throughMemory("", "%r"), {1}, x, y);
  expectOne(report, FindingKind::UnorderedLanes, 14, 0, 0);
  EXPECT_EQ(report.findings[0].otherPlace.line, 11u);
  EXPECT_NE(report.findings[0].message.find("byte 12 of `y`, which another lane of the program has "
                                            "written, and no `tl.debug_barrier()`"),
            std::string::npos)
      << report.str();
  EXPECT_EQ(report.findings[0].otherNote, "written here, by lane 3");
}

TEST(CheckLanes, TheSameLaneAndABarrierAreFine) {
  for (auto [between, lanes] : {std::pair("", "%i"), std::pair("  tile.barrier", "%r")}) {
    Checked c;
    std::vector<int32_t> x(4), y(4);
    c.add(x, "x");
    c.add(y, "y");
    Report report = c.run(throughMemory(between, lanes), {1}, x, y);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(CheckLanes, AWriteOfWhatAnotherLaneReads) {
  Checked c;
  std::vector<int32_t> x(4);
  c.add(x, "x");
  Report report = c.run(R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x")) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %c3 = arith.constant dense<3> : tensor<4xi32>
  %r = arith.subi %c3, %i : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %xa = tile.addptr %xs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v = tile.load %xa : tensor<4x!tile.ptr<i32>>
  %xb = tile.addptr %xs, %r : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  tile.store %xb, %v : tensor<4x!tile.ptr<i32>>
  return
})mlir",
                        {1}, x);
  expectOne(report, FindingKind::UnorderedLanes, 10, 0, 0);
  EXPECT_EQ(report.findings[0].otherNote, "read here, by lane 3");
}

/// for k < 3: x[i + STEP * k] = i, for four lanes.
static std::string storedInTurns(llvm::StringRef step, llvm::StringRef between) {
  return (R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x")) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %step = arith.constant )mlir" +
          step + R"mlir( : i32
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  scf.for %k = %c0 to %c3 step %c1 : i32 {
    %o = arith.muli %k, %step : i32
    %xk = tile.addptr %x, %o : !tile.ptr<i32>, i32
    %xs = tile.splat %xk : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
    %xa = tile.addptr %xs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
    tile.store %xa, %i : tensor<4x!tile.ptr<i32>>
)mlir" + between +
          R"mlir(
  }
  return
})mlir")
      .str();
}

TEST(CheckLanes, AWriteOfWhatAnotherLaneWroteInAnEarlierTurn) {
  for (auto [step, times] : {std::pair("1", 6u), std::pair("3", 2u)}) {
    Checked c;
    std::vector<int32_t> x(16);
    c.add(x, "x");
    Report report = c.run(storedInTurns(step, ""), {1}, x);
    expectOne(report, FindingKind::UnorderedLanes, 13, 0, 0);
    EXPECT_EQ(report.findings[0].otherPlace.line, 13u);
    EXPECT_EQ(report.findings[0].occurrences, times);
    EXPECT_EQ(report.findings[0].otherNote,
              std::string("written here in an earlier turn of the loop, by lane ") + step);
  }
}

/// x[i], x[i + 8] and then x[i + 1].
TEST(CheckLanes, AWriteOfWhatAnotherLaneWroteTwoTurnsBefore) {
  Checked c;
  std::vector<int32_t> x(16);
  c.add(x, "x");
  Report report = c.run(R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x")) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c8 = arith.constant 8 : i32
  %c15 = arith.constant 15 : i32
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  scf.for %k = %c0 to %c3 step %c1 : i32 {
    %s = arith.muli %k, %c8 : i32
    %o = arith.remsi %s, %c15 : i32
    %xk = tile.addptr %x, %o : !tile.ptr<i32>, i32
    %xs = tile.splat %xk : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
    %xa = tile.addptr %xs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
    tile.store %xa, %i : tensor<4x!tile.ptr<i32>>
  }
  return
})mlir",
                        {1}, x);
  expectOne(report, FindingKind::UnorderedLanes, 15, 0, 0);
  EXPECT_EQ(report.findings[0].occurrences, 3u);
}

TEST(CheckLanes, TurnsThatWriteElsewhereOrByTheSameLaneAreFine) {
  for (auto [step, between] :
       {std::pair("4", ""), std::pair("0", ""), std::pair("1", "    tile.barrier")}) {
    Checked c;
    std::vector<int32_t> x(16);
    c.add(x, "x");
    Report report = c.run(storedInTurns(step, between), {1}, x);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

/// Many lanes that load and store the same number: which lane of them counts is not known.
TEST(CheckLanes, SeveralLanesOfOneInstructionAreLeftAlone) {
  Checked c;
  std::vector<int32_t> x(4);
  c.add(x, "x");
  Report report = c.run(R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x")) {
  %c0 = arith.constant dense<0> : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %xa = tile.addptr %xs, %c0 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v = tile.load %xa : tensor<4x!tile.ptr<i32>>
  tile.store %xa, %v : tensor<4x!tile.ptr<i32>>
  return
})mlir",
                        {1}, x);
  EXPECT_TRUE(report.ok()) << report.str();
}

} // namespace
