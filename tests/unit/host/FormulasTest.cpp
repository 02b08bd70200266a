//===- FormulasTest.cpp - formulas of what they are not for ----------------===//
#include "MockDevice.h"

using namespace tile;
using namespace tile::host;

namespace {

struct Example {
  const char *expr, *expected;
};
void check(std::initializer_list<Example> examples) {
  for (const Example &e : examples)
    EXPECT_EQ(evaluate(e.expr), e.expected) << e.expr;
}

TEST(Formulas, NumbersAreNoTensors) {
  check({{"tile.diag(0)", "ValueError: `diag` needs a tensor of one or two dimensions"},
         {"tile.diag(tile.zeros((2, 2, 2)))",
          "ValueError: `diag` needs a tensor of one or two dimensions"},
         {"tile.movedim(5, 4, 4)",
          "IndexError: an axis of `movedim` is a number from 0 to -1, got 4"},
         {"tile.tensordot(tile.arange(24), 40)",
          "ValueError: `tensordot` of 2 dimensions, where the tensors have 1 and 0"},
         {"tile.vander(3)", "ValueError: `vander` needs a tensor of one dimension"},
         {"tile.cross(1, 2)", "IndexError: an axis of `cross` is a number from 0 to -1, got -1"}});
}

TEST(Formulas, AxesThatThereAreNot) {
  check({{"tile.tensordot(tile.zeros((2, 3)), tile.zeros((3, 2)), ([1], [7]))",
          "IndexError: an axis of `tensordot` is a number from -2 to 1, got 7"},
         {"tile.tensordot(tile.zeros((2, 3)), tile.zeros((4, 2)), 1)",
          "ValueError: a dimension of `tensordot` is `3` in one tensor and `4` in another"},
         {"tile.movedim(tile.zeros((2, 3)), (0, 9), (1, 0))",
          "IndexError: an axis of `movedim` is a number from -2 to 1, got 9"}});
}

TEST(Formulas, AnIndexHasOneEllipsis) {
  check({{"tile.zeros((2, 4))[..., ..., tile.arange(2)]",
          "IndexError: an index has one `...` at most"},
         {"tile.zeros((2, 4))[..., ...]", "IndexError: an index has one `...` at most"},
         {"tile.zeros((2, 4))[0, 0, 0, tile.arange(2)]",
          "IndexError: too many indices: 4 for a tensor of rank 2"},
         {"tile.zeros((2, 4))[..., tile.arange(3)].shape", "(2, 3)"}});
}

TEST(Formulas, WidthsLieAlongTheAxisTheyAreOf) {
  std::string arguments =
      "(tile.tensor([[1.0, 2], [3, 5], [0, 7]]), tile.tensor([0.0, 1, 3]), axis=0)";
  EXPECT_EQ(evaluate("tile.trapezoid" + arguments + ".tolist()"), "[5.0, 15.5]");
  EXPECT_EQ(evaluate("tile.cumulative_trapezoid" + arguments + ".tolist()"),
            "[[2.0, 3.5], [5.0, 15.5]]");
}

TEST(Formulas, AWindowOfOneElementIsItsMiddle) {
  check({{"tile.hanning(1).tolist()", "[1.0]"},
         {"tile.hann_window(1).tolist()", "[1.0]"},
         {"tile.bartlett(1).tolist()", "[1.0]"}});
}

/// Each is an error at once: nothing is made of them one by one.
TEST(Formulas, NumbersWithoutEnd) {
  check({{"tile.tensordot(tile.zeros((2, 3)), tile.zeros((3, 2)), 1 << 60)",
          "ValueError: `tensordot` of 1152921504606846976 dimensions, where the tensors have 2 and "
          "2"},
         {"tile.diff(tile.zeros(4), 1 << 60).shape", "(0,)"},
         {"tile.diff(tile.zeros(4), -1)", "ValueError: `diff` is taken 0 times or more, not -1"},
         {"tile.split(tile.zeros(1).expand(1 << 40), 1)",
          "ValueError: `split` gives 1099511627776 parts, more than 65536"},
         {"tile.unbind(tile.zeros(1).expand(1 << 40))",
          "ValueError: `unbind` gives 1099511627776 parts, more than 65536"},
         {"[len(x) for x in tile.split(tile.zeros(7), 3)]", "[3, 3, 1]"},
         {"tile.split(tile.zeros(7), (1 << 63) - 1)[0].shape", "(7,)"},
         {"tile.diagonal(tile.zeros((3, 3)), -(1 << 63))",
          "TypeError: `diagonal` needs a whole number that is known, got -9223372036854775808"},
         {"tile.roll(tile.arange(5), -(1 << 63)).tolist()", "[3, 4, 0, 1, 2]"},
         {"tile.roll(tile.arange(5), 7).tolist()", "[3, 4, 0, 1, 2]"},
         {"tile.roll(tile.arange(5), -10).tolist()", "[0, 1, 2, 3, 4]"},
         {"tile.tile(tile.zeros(2), [1] * 100000)",
          "ValueError: `tile` along 100000 dimensions, more than 64"},
         {"tile.meshgrid([tile.zeros(2)] * 100000)",
          "ValueError: `meshgrid` is of 64 tensors at most, got 100000"}});
}

} // namespace
