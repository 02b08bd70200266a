//===- DeadValuesTest.cpp - what nothing observable needs goes ------------===//
#include "passes/facts/DeadValues.h"
#include "ParsedModule.h"

using namespace mlir;
using namespace tile;
using tile::test::ParsedModule;

namespace {

/// f(%p: pointer, %n: i32, %c: i1) { body } without its dead values.
class Swept : public ParsedModule {
public:
  explicit Swept(const std::string &body)
      : ParsedModule("func.func @f(%p: !tile.ptr<i32>, %n: i32, %c: i1) {\n"
                     "%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n" +
                     body + "\nreturn }") {
    eraseDeadValues(function().getBody().front());
    EXPECT_TRUE(succeeded(verify(function()))) << text();
  }
};

TEST(DeadValues, ComputationsThatNobodyReads) {
  Swept m("%x = arith.addi %n, %one : i32\n%y = arith.muli %x, %x : i32\n"
          "tile.store %p, %n : !tile.ptr<i32>");
  EXPECT_EQ(m.count<arith::AddIOp>() + m.count<arith::MulIOp>(), 0u) << m.text();
  EXPECT_EQ(m.count<StoreOp>(), 1u);
}

TEST(DeadValues, LoadsThatNobodyReads) {
  Swept m("%x = tile.load %p : !tile.ptr<i32>\n%y = tile.load %p : !tile.ptr<i32>\n"
          "tile.store %p, %y : !tile.ptr<i32>");
  EXPECT_EQ(m.count<LoadOp>(), 1u) << m.text();
}

TEST(DeadValues, ALoopThatDoesNothing) {
  Swept m("%r = scf.for %i = %zero to %n step %one iter_args(%x = %n) -> (i32) : i32 {\n"
          "%y = arith.addi %x, %one : i32\nscf.yield %y : i32 }");
  EXPECT_EQ(m.count<scf::ForOp>(), 0u) << m.text();
}

/// Used, but only to compute itself.
TEST(DeadValues, ACycleAroundALoop) {
  Swept m("%r:2 = scf.for %i = %zero to %n step %one iter_args(%x = %n, %s = %zero) -> "
          "(i32, i32) : i32 {\n"
          "%y = arith.muli %x, %n : i32\n%t = arith.addi %s, %i : i32\n"
          "scf.yield %y, %t : i32, i32 }\n"
          "tile.store %p, %r#1 : !tile.ptr<i32>");
  ASSERT_EQ(m.count<scf::ForOp>(), 1u);
  EXPECT_EQ((*m.function().getOps<scf::ForOp>().begin()).getNumResults(), 1u) << m.text();
  EXPECT_EQ(m.count<arith::MulIOp>(), 0u) << m.text();
  EXPECT_EQ(m.count<arith::AddIOp>(), 1u);
}

TEST(DeadValues, ACycleOfTwo) {
  Swept m("%r:3 = scf.for %i = %zero to %n step %one iter_args(%x = %n, %y = %one, %s = %zero) "
          "-> (i32, i32, i32) : i32 {\n"
          "%t = arith.addi %s, %i : i32\n"
          "scf.yield %y, %x, %t : i32, i32, i32 }\n"
          "tile.store %p, %r#2 : !tile.ptr<i32>");
  EXPECT_EQ((*m.function().getOps<scf::ForOp>().begin()).getNumResults(), 1u) << m.text();
}

/// What an effect in the loop needs stays, through other carried values.
TEST(DeadValues, WhatAnEffectNeedsStays) {
  Swept m("%r:2 = scf.for %i = %zero to %n step %one iter_args(%x = %n, %y = %one) -> "
          "(i32, i32) : i32 {\n"
          "tile.store %p, %x : !tile.ptr<i32>\n"
          "%z = arith.addi %y, %one : i32\n"
          "scf.yield %y, %z : i32, i32 }");
  EXPECT_EQ((*m.function().getOps<scf::ForOp>().begin()).getNumResults(), 2u) << m.text();
  EXPECT_EQ(m.count<arith::AddIOp>(), 1u);
}

TEST(DeadValues, BoundsOfALivingLoopStay) {
  Swept m("%u = arith.muli %n, %n : i32\n"
          "scf.for %i = %zero to %u step %one : i32 { tile.store %p, %i : !tile.ptr<i32> }");
  EXPECT_EQ(m.count<arith::MulIOp>(), 1u) << m.text();
}

TEST(DeadValues, OneResultOfABranch) {
  Swept m("%r:2 = scf.if %c -> (i32, i32) {\n"
          "%x = arith.addi %n, %one : i32\nscf.yield %x, %n : i32, i32\n"
          "} else {\n"
          "%y = arith.muli %n, %n : i32\nscf.yield %y, %one : i32, i32 }\n"
          "tile.store %p, %r#1 : !tile.ptr<i32>");
  ASSERT_EQ(m.count<scf::IfOp>(), 1u);
  EXPECT_EQ((*m.function().getOps<scf::IfOp>().begin()).getNumResults(), 1u) << m.text();
  EXPECT_EQ(m.count<arith::AddIOp>() + m.count<arith::MulIOp>(), 0u) << m.text();
}

TEST(DeadValues, ABranchWithAnEffectKeepsItsCondition) {
  Swept m("%k = arith.cmpi slt, %n, %one : i32\n"
          "%r = scf.if %k -> (i32) {\n"
          "tile.store %p, %n : !tile.ptr<i32>\nscf.yield %n : i32\n"
          "} else { scf.yield %one : i32 }");
  ASSERT_EQ(m.count<scf::IfOp>(), 1u);
  EXPECT_EQ((*m.function().getOps<scf::IfOp>().begin()).getNumResults(), 0u) << m.text();
  EXPECT_EQ(m.count<arith::CmpIOp>(), 1u);
  EXPECT_EQ(m.count<StoreOp>(), 1u);
}

TEST(DeadValues, CyclesThroughNestedLoopsAndBranches) {
  Swept m("%r:2 = scf.for %i = %zero to %n step %one iter_args(%x = %n, %s = %zero) -> "
          "(i32, i32) : i32 {\n"
          "  %q:2 = scf.for %j = %zero to %n step %one iter_args(%u = %x, %v = %s) -> (i32, i32) "
          ": i32 {\n"
          "    %w = scf.if %c -> (i32) { %a = arith.muli %u, %n : i32\n scf.yield %a : i32 }\n"
          "         else { scf.yield %u : i32 }\n"
          "    %t = arith.addi %v, %j : i32\n"
          "    scf.yield %w, %t : i32, i32 }\n"
          "  scf.yield %q#0, %q#1 : i32, i32 }\n"
          "tile.store %p, %r#1 : !tile.ptr<i32>");
  EXPECT_EQ(m.count<scf::ForOp>(), 2u);
  EXPECT_EQ(m.count<scf::IfOp>(), 0u) << m.text();
  m.function().walk([&](scf::ForOp loop) { EXPECT_EQ(loop.getNumResults(), 1u) << m.text(); });
}

TEST(DeadValues, AWhileLoopWithAnEffectIsKeptWhole) {
  Swept m("%r:2 = scf.while (%x = %n, %s = %zero) : (i32, i32) -> (i32, i32) {\n"
          "  %k = arith.cmpi slt, %x, %n : i32\n"
          "  scf.condition(%k) %x, %s : i32, i32\n"
          "} do {\n^bb0(%x: i32, %s: i32):\n"
          "  tile.store %p, %s : !tile.ptr<i32>\n"
          "  %y = arith.addi %x, %one : i32\n"
          "  scf.yield %y, %s : i32, i32 }");
  EXPECT_EQ(m.count<scf::WhileOp>(), 1u);
  EXPECT_EQ(m.count<arith::AddIOp>(), 1u) << m.text();
  EXPECT_EQ(m.count<arith::CmpIOp>(), 1u);
}

TEST(DeadValues, AWhileLoopWhoseResultIsReadIsKept) {
  Swept m("%m = arith.addi %n, %one : i32\n"
          "%r = scf.while (%x = %m) : (i32) -> i32 {\n"
          "  %k = arith.cmpi slt, %x, %n : i32\n  scf.condition(%k) %x : i32\n"
          "} do {\n^bb0(%x: i32):\n"
          "  %y = arith.muli %x, %n : i32\n  scf.yield %y : i32 }\n"
          "tile.store %p, %r : !tile.ptr<i32>");
  EXPECT_EQ(m.count<scf::WhileOp>(), 1u);
  EXPECT_EQ(m.count<arith::MulIOp>(), 1u) << m.text();
  EXPECT_EQ(m.count<arith::AddIOp>(), 1u) << m.text();
}

/// A carried value of a for loop that only a while loop inside uses.
TEST(DeadValues, WhatAWhileLoopUsesStays) {
  Swept m("%r = scf.for %i = %zero to %n step %one iter_args(%a = %one) -> (i32) : i32 {\n"
          "  %q = scf.while (%x = %a) : (i32) -> i32 {\n"
          "    %k = arith.cmpi slt, %x, %n : i32\n    scf.condition(%k) %x : i32\n"
          "  } do {\n  ^bb0(%x: i32):\n"
          "    tile.store %p, %x : !tile.ptr<i32>\n"
          "    %y = arith.addi %x, %one : i32\n    scf.yield %y : i32 }\n"
          "  %b = arith.muli %a, %n : i32\n"
          "  scf.yield %b : i32 }");
  EXPECT_EQ(m.count<arith::MulIOp>(), 1u) << m.text();
}

TEST(DeadValues, CombinersBelongToTheirOperation) {
  Swept m("%b = tile.splat %n : i32 -> tensor<64xi32>\n"
          "%s = tile.reduce %b {axis = 0 : i32} : tensor<64xi32> -> i32 {\n"
          "^bb0(%l: i32, %r: i32):\n  %t = arith.addi %l, %r : i32\n  tile.yield %t : i32 }\n"
          "tile.store %p, %s : !tile.ptr<i32>");
  EXPECT_EQ(m.count<arith::AddIOp>(), 1u) << m.text();
}

TEST(Liveness, RootsAreTheCallers) {
  ParsedModule m("func.func @f(%p: !tile.ptr<i32>, %n: i32) {\n"
                 "%x = arith.addi %n, %n : i32\n%y = arith.muli %n, %n : i32\n"
                 "tile.store %p, %x : !tile.ptr<i32>\n"
                 "tile.store %p, %y {here} : !tile.ptr<i32>\nreturn }");
  auto isRoot = [](Operation *op) { return op->hasAttr("here"); };
  Liveness live(m.function().getBody().front(), isRoot);
  m.function().walk([&](arith::AddIOp op) { EXPECT_FALSE(live.ops.contains(op)); });
  m.function().walk([&](arith::MulIOp op) { EXPECT_TRUE(live.ops.contains(op)); });
  eraseDeadValues(m.function().getBody().front(), isRoot);
  EXPECT_EQ(m.count<arith::AddIOp>(), 0u) << m.text();
  EXPECT_EQ(m.count<StoreOp>(), 1u) << m.text();
  EXPECT_EQ(m.count<arith::MulIOp>(), 1u);
}

} // namespace
