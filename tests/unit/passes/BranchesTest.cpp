//===- BranchesTest.cpp - work of which a program does one or the other ---===//
#include "passes/facts/Branches.h"
#include "ParsedModule.h"

using namespace mlir;
using namespace tile;
using tile::test::ParsedModule;

namespace {

/// Constants that stand in branches, in a loop and behind them, by their values.
constexpr const char *kSource = R"(
func.func @kernel(%c: i1, %d: i1, %n: i32, %p: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.if %c {
    %a = arith.constant 10 : i32
    scf.if %d {
      %b = arith.constant 20 : i32
      tile.store %p, %b : !tile.ptr<i32>
    } else {
      %b = arith.constant 21 : i32
      tile.store %p, %b : !tile.ptr<i32>
    }
    tile.store %p, %a : !tile.ptr<i32>
  } else {
    %a = arith.constant 11 : i32
    tile.store %p, %a : !tile.ptr<i32>
  }
  scf.for %i = %zero to %n step %one : i32 {
    scf.if %c {
      %a = arith.constant 30 : i32
      tile.store %p, %a : !tile.ptr<i32>
    } else {
      %a = arith.constant 31 : i32
      tile.store %p, %a : !tile.ptr<i32>
    }
  }
  return
}
)";

TEST(Branches, ApartInOneCondition) {
  ParsedModule module(kSource);
  auto at = [&](int64_t value) {
    Operation *found = nullptr;
    module.function().walk([&](arith::ConstantOp op) {
      auto number = dyn_cast<IntegerAttr>(op.getValue());
      if (number && number.getInt() == value)
        found = op;
    });
    return found;
  };
  EXPECT_TRUE(areInOtherBranches(at(10), at(11)));
  EXPECT_TRUE(areInOtherBranches(at(20), at(21)));
  EXPECT_TRUE(areInOtherBranches(at(20), at(11)));
  EXPECT_TRUE(areInOtherBranches(at(11), at(20)));
  EXPECT_FALSE(areInOtherBranches(at(10), at(20)));
  EXPECT_FALSE(areInOtherBranches(at(20), at(10)));
  EXPECT_FALSE(areInOtherBranches(at(10), at(10)));
  EXPECT_FALSE(areInOtherBranches(at(0), at(10)));
  // In turns of a loop a program does both; two conditions, though alike, are not compared.
  EXPECT_FALSE(areInOtherBranches(at(30), at(31)));
  EXPECT_FALSE(areInOtherBranches(at(10), at(31)));
}

TEST(Branches, Places) {
  auto places = [](std::initializer_list<int64_t> bytes,
                   std::initializer_list<std::pair<size_t, size_t>> apart) {
    int64_t end = 0;
    SmallVector<int64_t> begins = placesOf(
        bytes,
        [&](size_t i, size_t j) {
          return llvm::is_contained(apart, std::pair(i, j)) ||
                 llvm::is_contained(apart, std::pair(j, i));
        },
        end);
    begins.push_back(end);
    return begins;
  };
  EXPECT_EQ(places({}, {}), (SmallVector<int64_t>{0}));
  EXPECT_EQ(places({8, 4, 2}, {}), (SmallVector<int64_t>{0, 8, 12, 14}));
  EXPECT_EQ(places({8, 4}, {{0, 1}}), (SmallVector<int64_t>{0, 0, 8}));
  EXPECT_EQ(places({4, 8}, {{0, 1}}), (SmallVector<int64_t>{0, 0, 8}));
  // One of all programs, two of one branch, one of the other.
  EXPECT_EQ(places({16, 8, 8, 32}, {{1, 3}, {2, 3}}), (SmallVector<int64_t>{0, 16, 24, 16, 48}));
}

} // namespace
