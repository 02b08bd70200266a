//===- NumbersTest.cpp - elements of tensors as numbers of the host -------===//
#include "MockDevice.h"

using namespace tile::host;

TEST(Numbers, WithoutASignAreWhatTheyAre) {
  EXPECT_EQ(evaluate("tile.tensor([2**64 - 1, 5], dtype=tl.uint64).tolist()"),
            "[18446744073709551615, 5]");
  EXPECT_EQ(evaluate("tile.tensor([2**63], dtype=tl.uint64).item()"), "9223372036854775808");
  EXPECT_EQ(evaluate("tile.tensor([2**63], dtype=tl.uint64)"),
            "tensor([9223372036854775808], u64)");
}

/// Ints are `int32` unless told, and what that cannot hold is not cut to it.
TEST(Numbers, TooLargeForTheirTypeAreRefused) {
  const char *wide = "cannot hold 1099511627776: give it `dtype=tl.int64`";
  EXPECT_NE(evaluate("tile.tensor([1 << 40])").find(wide), std::string::npos);
  EXPECT_NE(evaluate("tile.arange(1 << 40, (1 << 40) + 4)").find(wide), std::string::npos);
  EXPECT_NE(evaluate("tile.arange((1 << 40) + 4, 0, -(1 << 39))").find("cannot hold 1099511627780"),
            std::string::npos);
  EXPECT_NE(evaluate("tile.randint(0, 1 << 40, 4)").find("from 0 to 1099511627775"),
            std::string::npos);
  EXPECT_EQ(evaluate("tile.tensor([-(1 << 31), (1 << 31) - 1]).tolist()"),
            "[-2147483648, 2147483647]");
  EXPECT_EQ(evaluate("tile.tensor([1 << 40], dtype=tl.int64).item()"), "1099511627776");
  EXPECT_EQ(evaluate("tile.randint((1 << 31) - 1, 1 << 31, 1).item()"), "2147483647");
}

/// Also those that a double has not.
TEST(Numbers, CountedAreExact) {
  EXPECT_EQ(evaluate("tile.arange((1 << 60) + 1, (1 << 60) + 4, dtype=tl.int64).tolist()"),
            "[1152921504606846977, 1152921504606846978, 1152921504606846979]");
  EXPECT_EQ(evaluate("tile.arange((1 << 63) + 1, (1 << 63) + 3, dtype=tl.uint64).tolist()"),
            "[9223372036854775809, 9223372036854775810]");
  EXPECT_EQ(evaluate("tile.arange(-(1 << 63), (1 << 63) - 1, 1 << 62, dtype=tl.int64).tolist()"),
            "[-9223372036854775808, -4611686018427387904, 0, 4611686018427387904]");
  EXPECT_EQ(evaluate("tile.arange(5, -5, -3).tolist()"), "[5, 2, -1, -4]");
  EXPECT_EQ(evaluate("tile.arange(3, 3).tolist(), tile.arange(-2).tolist()"), "([], [])");
  EXPECT_EQ(evaluate("tile.arange(0, 1, 1 << 80, dtype=tl.int64).tolist()"), "[0]");
}

TEST(Numbers, OneElementIsANumber) {
  EXPECT_EQ(evaluate("int(tile.tensor([2.5])), float(tile.tensor([[7]]))"), "(2, 7.0)");
}
