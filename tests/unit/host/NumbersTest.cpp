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

TEST(Numbers, OneElementIsANumber) {
  EXPECT_EQ(evaluate("int(tile.tensor([2.5])), float(tile.tensor([[7]]))"), "(2, 7.0)");
}
