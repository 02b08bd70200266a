//===- TensorTest.cpp - tensors and reference expressions -----------------===//
#include "MockDevice.h"
#include "runtime/host/Functions.h"
#include "runtime/host/Random.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <set>

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

TEST(Tensor, CreationAndFacts) {
  check({{"tile.zeros((2, 3)).shape", "(2, 3)"},
         {"tile.arange(2, 10, 3).tolist()", "[2, 5, 8]"},
         {"tile.arange(0, 1, 0.25).tolist()", "[0.0, 0.25, 0.5, 0.75]"},
         {"tile.full(2, 7, dtype=tl.int8).dtype", "i8"},
         {"tile.tensor([[1, 2], [3, 4]]).dtype", "i32"},
         {"tile.tensor([1.5, 2]).dtype, tile.tensor([True]).dtype", "(fp32, i1)"},
         {"tile.tensor([[1, 2], [3]])",
          "ValueError: nested sequences must have the same length everywhere"},
         {"(lambda x: (x.stride(), x.stride(0), x.numel, x.nbytes, x.ndim, len(x)))"
          "(tile.zeros((3, 4), dtype=tl.float16))",
          "((4, 1), 4, 12, 24, 2, 3)"},
         {"tile.isnan(tile.empty(2)).tolist()", "[True, True]"},
         {"tile.zeros(-1)", "TypeError: a shape is made of integers that are not negative, got -1"},
         {"tile.zeros(2, dtype=tl.pointer_type(tl.int8))",
          "TypeError: `dtype` must be an element type such as `tl.float16`, got *i8"},
         {"tile.zeors(2)",
          "AttributeError: module `tile` has no function `zeors`; did you mean `zeros`?"},
         {"tile.zeros(2).shap",
          "AttributeError: a tensor has no attribute `shap`; did you mean `shape`?"}});
}

TEST(Tensor, Views) {
  check({{"tile.arange(6).reshape(2, 3).T.tolist()", "[[0, 3], [1, 4], [2, 5]]"},
         {"tile.arange(6).reshape(2, -1).T.stride()", "(1, 3)"},
         {"tile.arange(10)[1:9:3].tolist()", "[1, 4, 7]"},
         {"tile.arange(10)[::-4].tolist()", "[9, 5, 1]"},
         {"tile.arange(6).reshape(2, 3)[1, -1].item()", "5"},
         {"tile.arange(3)[:, None].shape, tile.arange(3)[None].shape", "((3, 1), (1, 3))"},
         {"tile.zeros((2, 3, 4))[..., 0].shape, tile.zeros((2, 3, 4))[0, ...].shape",
          "((2, 3), (3, 4))"},
         {"tile.arange(6).reshape(2, 3).permute(1, 0).is_contiguous()", "False"},
         {"tile.arange(6).reshape(2, 3).T.contiguous().stride()", "(2, 1)"},
         {"tile.arange(4).as_strided((2, 2), (1, 2)).tolist()", "[[0, 2], [1, 3]]"},
         {"tile.arange(4).as_strided((2, 3), (1, 2))",
          "ValueError: this view reaches outside of the tensor's memory: shape (2, 3) with strides "
          "(1, 2) from element 0 on takes elements 0 to 5, of 4"},
         {"tile.ones(1).view(tl.int32).item()", "1065353216"},
         {"tile.arange(3).expand(2, 3).tolist()", "[[0, 1, 2], [0, 1, 2]]"},
         {"tile.arange(8).reshape(2, 2, 2).transpose(0, 2).flatten().tolist()",
          "[0, 4, 2, 6, 1, 5, 3, 7]"},
         {"tile.zeros((1, 3, 1)).squeeze().shape, tile.zeros((1, 3)).unsqueeze(-1).shape",
          "((3,), (1, 3, 1))"},
         {"tile.arange(3)[5]", "IndexError: index 5 is out of range for dimension 0 of size 3"},
         {"tile.arange(6).reshape(4, 2)", "ValueError: cannot view 6 elements as (4, 2)"},
         {"tile.arange(10)[tile.tensor([3, -1])].tolist()", "[3, 9]"},
         {"tile.arange(5)[tile.arange(5) > 2].tolist()", "[3, 4]"}});
}

constexpr const char *tooManyBytes = "MemoryError: a tensor of shape (4294967296, 4294967296) has "
                                     "more than 2^63 bytes";

TEST(Tensor, ShapesWhoseSizeOverflowsAreRefused) {
  check(
      {{"tile.zeros((1 << 32, 1 << 32))", tooManyBytes},
       {"tile.empty((1 << 32, 1 << 32))", tooManyBytes},
       {"tile.randn((1 << 32, 1 << 32))", tooManyBytes},
       {"tile.full((1 << 32, 1 << 32), 1)", tooManyBytes},
       {"tile.zeros((1 << 32, 1 << 32, 0))",
        "MemoryError: a tensor of shape (4294967296, 4294967296, 0) has more than 2^63 bytes"},
       {"tile.zeros(1).expand((1 << 32, 1 << 32))", tooManyBytes},
       {"tile.zeros(1).broadcast_to((1 << 32, 1 << 32))", tooManyBytes},
       {"tile.zeros(0).reshape((1 << 32, 1 << 32))",
        "ValueError: cannot view 0 elements as (4294967296, 4294967296)"},
       {"tile.zeros(4).reshape((1 << 32, -1, 1 << 32))",
        "ValueError: cannot view 4 elements as (4294967296, -1, 4294967296)"},
       {"tile.arange(0, 1, 1e-300)",
        "ValueError: `arange` from 0.0 to 1.0 by 1e-300 has no number of elements"},
       {"tile.zeros((1,) * 65)", "ValueError: a tensor has at most 64 dimensions, and this one 65"},
       {"tile.zeros((1,) * 64)[None]",
        "ValueError: a tensor has at most 64 dimensions, and this one 65"},
       {"tile.zeros(1).expand((-5,))", "ValueError: a dimension cannot be negative, as in (-5,)"}});
}

TEST(Tensor, ViewsStayInsideTheirMemory) {
  const std::string outside = "ValueError: this view reaches outside of the tensor's memory: ";
  const std::pair<const char *, std::string> examples[] = {
      {"tile.zeros(4).as_strided((3,), (1 << 61,), 0)",
       "shape (3,) with strides (2305843009213693952,) from element 0 on takes elements 0 to "
       "4611686018427387904, of 4"},
      {"tile.zeros(4).as_strided((5,), (1 << 61,), 0)",
       "shape (5,) with strides (2305843009213693952,) from element 0 on goes beyond 64 bits, of "
       "4"},
      {"tile.zeros(1 << 10).as_strided(((1 << 37) + 1,), (1 << 25,), 0)",
       "shape (137438953473,) with strides (33554432,) from element 0 on takes elements 0 to "
       "4611686018427387904, of 1024"},
      {"tile.zeros(4).as_strided((2,), (-1,), 0)",
       "shape (2,) with strides (-1,) from element 0 on takes elements -1 to 0, of 4"},
      {"tile.zeros(4).as_strided((0,), (1,), 5)",
       "shape (0,) with strides (1,) from element 5, of 4"},
      {"tile.zeros(4).as_strided((1,), (1,), -1)",
       "shape (1,) with strides (1,) from element -1 on takes elements -1 to -1, of 4"},
      {"tile.empty_strided((2,), (-1,))",
       "shape (2,) with strides (-1,) from element 0 on takes elements -1 to 0, of 1"}};
  for (auto &[expr, expected] : examples)
    EXPECT_EQ(evaluate(expr), outside + expected) << expr;
  check(
      {{"tile.arange(4).as_strided((4,), (-1,), 3).tolist()", "[3, 2, 1, 0]"},
       {"tile.arange(4)[1:][1:].as_strided((2,), (1,), -2).tolist()", "[0, 1]"},
       {"tile.arange(4)[1::1 << 62].tolist(), tile.arange(4)[::-(1 << 62)].tolist()", "([1], [3])"},
       {"tile.empty_strided((1,), (1 << 62,)).stride()", "(4611686018427387904,)"},
       {"tile.zeros(4)[1:].as_strided((1,), (1,), (1 << 63) - 1)",
        "ValueError: a view of shape (1,) begins beyond 2^63 elements"},
       {"tile.zeros(4).as_strided((1,), ('x',))",
        "TypeError: strides are integers of 64 bits, got ('x',)"},
       {"tile.empty_strided((1 << 32, 2), (1 << 32, 1))",
        "ValueError: a tensor of shape (4294967296, 2) with strides (4294967296, 1) reaches "
        "beyond 2^63 elements"}});
}

/// Where no element is, none has to lie inside of the memory.
TEST(Tensor, ViewsOfNoElementsMayBeginAnywhere) {
  check(
      {{"[tile.zeros((0, 4))[:, 2:].shape, tile.zeros((0, 4))[:, 1::2].shape]", "[(0, 2), (0, 2)]"},
       {"tile.zeros((0, 4))[:, 1].shape, tile.zeros((0, 4))[:, ::-1].shape", "((0,), (0, 4))"},
       {"[part.shape for part in tile.chunk(tile.zeros((0, 4)), 2, axis=1)]", "[(0, 2), (0, 2)]"},
       {"tile.zeros((3, 4))[3:, 1:].shape, tile.zeros((3, 4))[:0, 2].shape", "((0, 3), (0,))"},
       {"[row.shape for row in tile.zeros((2, 0))]", "[(0,), (0,)]"},
       {"tile.zeros((0, 4))[:, 2:].sum(axis=0).tolist()", "[0.0, 0.0]"}});
}

TEST(Tensor, ResultsThatDoNotFitIntoMemoryAreRefused) {
  auto limited = [](const std::string &expr) {
    HostFile file("def f():\n    return " + expr + "\n");
    file.session.hostContext()->memory.limit = 1 << 20;
    return file.call("f");
  };
  auto tooLarge = [](const std::string &shape, const std::string &bytes) {
    return "MemoryError: a tensor of shape " + shape + " is too large: it takes " + bytes +
           " bytes on the host, where ";
  };
  const std::tuple<const char *, std::string, std::string> examples[] = {
      {"tile.zeros(1 << 30)", "(1073741824,)", "4294967296"},
      {"tile.zeros(1).expand((1 << 30, 2)).sum()", "(1073741824, 2)", "17179869184"},
      {"tile.one_hot(tile.zeros(4, dtype=tl.int32), 1 << 40)", "(4, 1099511627776)",
       "35184372088832"},
      {"tile.zeros((1 << 30, 0)) @ tile.zeros((0, 1 << 20))", "(1073741824, 1048576)",
       "9007199254740992"},
      {"tile.zeros((1 << 30, 1, 0)).sum(-1)", "(1073741824, 1)", "8589934592"},
      {"tile.arange(1 << 10)[:, None] + tile.arange(1 << 10)", "(1024, 1024)", "8388608"},
      {"tile.bincount(tile.arange(2), 1 << 40)", "(1099511627776,)", "8796093022208"},
      {"tile.empty_strided((2,), (1 << 40,))", "(1099511627777,)", "4398046511108"},
      {"tile.randperm(1 << 30)", "(1073741824,)", "8589934592"}};
  for (auto &[expr, shape, bytes] : examples) {
    std::string got = limited(expr);
    EXPECT_EQ(llvm::StringRef(got).split("where ").first.str() + "where ", tooLarge(shape, bytes))
        << expr;
  }
  EXPECT_EQ(limited("tile.cat([tile.zeros((1 << 61, 0))] * 8, axis=0)"),
            "ValueError: `cat` gives more than 2^63 elements along axis 0");
  EXPECT_EQ(limited("tile.zeros((1 << 61, 0)).tolist()"),
            "MemoryError: strings and containers have at most 4194304 elements at compile time");
  EXPECT_EQ(limited("[1 for row in tile.zeros((1 << 61, 0))]"),
            "MemoryError: strings and containers have at most 4194304 elements at compile time");
  EXPECT_EQ(limited("repr(tile.zeros(1).expand((1 << 30, 2)))"),
            "'tensor(shape (1073741824, 2), fp32)'");
  EXPECT_EQ(limited("tile.zeros((1 << 40, 0)).softmax(0).shape"), "(1099511627776, 0)");
  EXPECT_EQ(limited("tile.zeros((0, 1 << 40)).softmax(1).shape"), "(0, 1099511627776)");
}

TEST(Tensor, CountsAndChancesThatThereAreNot) {
  check({{"tile.topk(tile.zeros(8), 9)", "TypeError: `topk` of 8 elements cannot give 9"},
         {"tile.topk(tile.zeros((3, 8)), -1, axis=0)",
          "TypeError: `topk` of 3 elements cannot give -1"},
         {"tile.topk(tile.zeros(8), 2, axis=1)",
          "TypeError: `topk` needs a tensor, a number, and one of the tensor's axes"},
         {"tile.topk(tile.zeros((3, 8)), 3, axis=-2)[0].shape", "(3, 8)"},
         {"tile.dropout(tile.ones(8), 1.5)",
          "TypeError: `dropout` needs a probability from 0 to 1, got 1.5"},
         {"tile.dropout(tile.ones(8), float('nan'))",
          "TypeError: `dropout` needs a probability from 0 to 1, got nan"},
         {"'abc'.zfill(1 << 40)", "TypeError: the width must be an integer of at most 10000"}});
}

TEST(Tensor, ElementsAreNumbers) {
  check({{"tile.zeros(4).to(tl.void)",
          "TypeError: a tensor is made of elements such as `tl.float16`, not of `void`"},
         {"tile.zeros(4, dtype=tl.int64).view(tl.pointer_type(tl.int8))",
          "TypeError: a tensor is made of elements such as `tl.float16`, not of `*i8`"}});
}

TEST(Tensor, MemoryIsGivenBack) {
  HostFile file(R"(
def f():
    for i in range(100):
        x = tile.zeros(1 << 16)
    return x.numel
)");
  file.session.hostContext()->memory.limit = 1 << 20;
  EXPECT_EQ(file.call("f"), "65536");
}

TEST(Tensor, ListsThatNestWithoutEndAreRefused) {
  HostFile file(R"(
def deep(n):
    x = []
    for i in range(n):
        x = [x]
    return x
def doubled():
    x = 1.0
    for i in range(60):
        x = [x, x]
    return x
def shown():
    return str(deep(10**6))[-3:]
def made():
    return tile.tensor(deep(100))
def many():
    return tile.tensor(doubled())
)");
  EXPECT_EQ(file.call("shown"), "']]]'");
  EXPECT_EQ(file.call("made"), "ValueError: sequences nest deeper than the 64 dimensions that a "
                               "tensor may have");
  EXPECT_EQ(file.call("many").substr(0, 11), "LimitError:");
}

TEST(Tensor, WritingThroughViews) {
  HostFile file(R"(
def f():
    x = tile.zeros((2, 3), dtype=tl.int32)
    x[0, 1:] = 5
    x.T[2][1] = 7
    x[:, 0] = tile.tensor([8, 9])
    x[x == 5] = 6
    return x.tolist()
def g():
    x = tile.arange(4)
    x[1:3] = tile.arange(3)
)");
  EXPECT_EQ(file.call("f"), "[[8, 6, 6], [9, 0, 7]]");
  EXPECT_EQ(file.call("g"), "ValueError: values of shape (3,) do not fit a tensor of shape (2,)");
}

TEST(Reference, OperatorsAreExactInDoublePrecision) {
  check({{"(tile.tensor([0.1], dtype=tl.float16) + 0).item()", "0.0999755859375"},
         {"(tile.arange(3) + 0.5).dtype, (tile.arange(3) + 1).dtype, (tile.arange(3) > 1).dtype",
          "(fp64, i64, i1)"},
         {"(tile.arange(3)[:, None] * tile.arange(2)).tolist()", "[[0, 0], [0, 1], [0, 2]]"},
         {"(1 / tile.tensor([2.0, 4.0])).tolist()", "[0.5, 0.25]"},
         {"(tile.tensor([1.0, -1.0, 6.0, 1.0, -1.0, 0.0, 1.0], dtype=tl.float64) // tile.tensor("
          "[0.1, 0.1, 0.1, float('inf'), float('inf'), -2.0, 0.0], dtype=tl.float64)).tolist()",
          "[9.0, -10.0, 59.0, 0.0, -1.0, -0.0, inf]"},
         {"(tile.tensor([-4.0, 4.0, -1.0, 1.0]) % tile.tensor([2.0, -2.0, float('inf'), "
          "-float('inf')]))"
          ".tolist()",
          "[0.0, -0.0, inf, -inf]"},
         {"tile.tensor([float('nan'), 0.0, -0.0, 0.5]).bool().tolist(), "
          "tile.tensor([float('nan')]).to(tl.int32).tolist()",
          "([True, False, False, True], [0])"},
         {"(tile.tensor([-7, 7]) // 2).tolist(), (tile.tensor([-7, 7]) % 4).tolist()",
          "([-4, 3], [1, 3])"},
         {"(tile.tensor([1, 2]) / 2).tolist()", "[0.5, 1.0]"},
         {"(2 ** tile.arange(4)).tolist(), (tile.arange(3) ** 2.0).tolist()",
          "([1, 2, 4, 8], [0.0, 1.0, 4.0])"},
         {"(-tile.tensor([0.0])).tolist(), (~tile.tensor([True, False])).tolist()",
          "([-0.0], [False, True])"},
         {"(tile.tensor([6]) & 3 | 8).tolist(), (tile.tensor([-8]) >> 1).tolist()", "([10], [-4])"},
         {"(tile.arange(4).reshape(2, 2) @ tile.arange(6).reshape(2, 3)).tolist()",
          "[[3, 4, 5], [9, 14, 19]]"},
         {"(tile.full((1, 1), 1 << 62, dtype=tl.int64) @ tile.full((1, 2), 6, dtype=tl.int64))"
          ".tolist()",
          "[[-9223372036854775808, -9223372036854775808]]"},
         {"tile.arange(3) + tile.arange(4)",
          "ValueError: shapes (3,) and (4,) do not broadcast together"},
         {"tile.tensor([1.0]) & 1", "TypeError: `&` needs tensors of integers or booleans"},
         {"bool(tile.arange(2))",
          "ValueError: the truth of a tensor of shape (2,) is ambiguous: use `.any()` or `.all()`"},
         {"0 <= tile.tensor(3).item() < 5", "True"}});
}

TEST(Reference, ElementwiseFunctions) {
  check({{"tile.exp(tile.zeros(2)).tolist()", "[1.0, 1.0]"},
         {"tile.tensor([-1.5, 2.5]).round().tolist(), tile.abs(tile.tensor([-3])).tolist(), "
          "abs(tile.tensor([-2])).tolist()",
          "([-2.0, 2.0], [3], [2])"},
         {"tile.where(tile.arange(3) > 1, 1.0, tile.arange(3)).tolist()", "[0.0, 1.0, 1.0]"},
         {"tile.maximum(tile.tensor([1.0, math.nan]), 2).tolist()", "[2.0, nan]"},
         {"tile.fmax(tile.tensor([1.0, math.nan]), 2).tolist()", "[2.0, 2.0]"},
         {"tile.clamp(tile.arange(5), 1, 3).tolist()", "[1, 1, 2, 3, 3]"},
         {"tile.sigmoid(0).item(), tile.relu(tile.tensor([-1.0, 2.0])).tolist()",
          "(0.5, [0.0, 2.0])"},
         {"tile.isinf(tile.tensor([math.inf, 1.0])).tolist()", "[True, False]"},
         {"tile.exp()", "TypeError: `exp` needs its argument `x`"}});
}

TEST(Reference, Reductions) {
  check({{"tile.arange(6).reshape(2, 3).sum().item()", "15"},
         {"tile.arange(6).reshape(2, 3).sum(axis=0).tolist()", "[3, 5, 7]"},
         {"tile.sum(tile.arange(6).reshape(2, 3), 1, keepdim=True).tolist()", "[[3], [12]]"},
         {"tile.arange(24).reshape(2, 3, 4).sum(axis=(0, -1)).tolist()", "[60, 92, 124]"},
         {"tile.arange(4).mean().item(), tile.arange(4).var().item()", "(1.5, 1.25)"},
         {"tile.arange(4).var(correction=1).item()", "1.6666666666666667"},
         {"tile.tensor([[1, 5, 5], [9, 2, 3]]).argmax(axis=1).tolist()", "[1, 0]"},
         {"tile.tensor([1.0, math.nan, 3.0]).max().item()", "nan"},
         {"tile.tensor([0, 1]).any().item(), tile.tensor([0, 1]).all().item()", "(True, False)"},
         {"tile.softmax(tile.tensor([[1e4, 1e4]]), axis=1).tolist()", "[[0.5, 0.5]]"},
         {"tile.logsumexp(tile.zeros(2)).item() == math.log(2)", "True"},
         {"tile.arange(4).cumsum(0).tolist()", "[0, 1, 3, 6]"},
         {"tile.arange(1, 5).reshape(2, 2).cumprod(axis=0).tolist()", "[[1, 2], [3, 8]]"},
         {"(tile.ones(1) * 1e16 + tile.tensor([1.0, 1.0, -1.0])).shape", "(3,)"},
         {"tile.tensor([1e16, 1.0, -1e16], dtype=tl.float64).sum().item()", "1.0"},
         {"tile.arange(3).sum(axis=1)",
          "IndexError: axis 1 is out of range for a tensor of rank 1"}});
}

TEST(Reference, Rearranging) {
  check({{"tile.sort(tile.tensor([3.0, math.nan, 1.0])).tolist()", "[1.0, 3.0, nan]"},
         {"tile.argsort(tile.tensor([3, 1, 2, 1]), descending=True).tolist()", "[0, 2, 1, 3]"},
         {"tile.cat([tile.arange(2), tile.arange(3)]).tolist()", "[0, 1, 0, 1, 2]"},
         {"tile.cat([tile.zeros((2, 1)), tile.ones((2, 2))], axis=1).dtype", "fp32"},
         {"tile.stack([tile.arange(2), tile.arange(2)], axis=1).tolist()", "[[0, 0], [1, 1]]"},
         {"tile.gather(tile.arange(6).reshape(2, 3), tile.tensor([[2], [0]]), 1).tolist()",
          "[[2], [3]]"},
         {"tile.take(tile.arange(6).reshape(3, 2), tile.tensor([2, 0]), axis=0).tolist()",
          "[[4, 5], [0, 1]]"},
         {"tile.one_hot(tile.tensor([1, 0]), 3).tolist()", "[[0, 1, 0], [1, 0, 0]]"},
         {"tile.flip(tile.arange(3), 0).tolist()", "[2, 1, 0]"},
         {"tile.bincount(tile.tensor([1, 1, 5, -1, 0]), 3).tolist()", "[1, 2, 0]"},
         {"tile.tril(tile.ones((2, 2))).tolist()", "[[1.0, 0.0], [1.0, 1.0]]"},
         {"tile.gather(tile.arange(3), tile.tensor([3]), 0)",
          "IndexError: index 3 is out of range for size 3"}});
}

TEST(Reference, CastsRoundOnce) {
  check(
      {{"tile.tensor([2049.0]).to(tl.float16).item()", "2048.0"},
       {"tile.tensor([1e6, -1e6]).to(tl.float8e4nv).tolist()", "[448.0, -448.0]"},
       {"tile.tensor([300.7, -1.5, math.nan]).to(tl.int8).tolist()", "[127, -1, 0]"},
       {"tile.tensor([-1]).to(tl.uint8).item(), tile.tensor([258]).to(tl.uint8).item()",
        "(255, 2)"},
       {"tile.tensor([0.0, 0.5]).to(tl.int1).tolist()", "[False, True]"},
       {"tile.arange(2).to(3)", "TypeError: `to` needs a dtype such as `tl.float16`, got `int`"}});
}

TEST(Random, IsReproducibleAndSpread) {
  check(
      {{"(tile.randn(100, seed=3) == tile.randn(100, seed=3)).all().item()", "True"},
       {"(tile.randn(100) == tile.randn(100)).any().item()", "False"},
       {"tile.abs(tile.randn(100000).mean()).item() < 0.02", "True"},
       {"tile.abs(tile.randn(100000, mean=5, std=2).std() - 2).item() < 0.03", "True"},
       {"(lambda x: (x.min().item() >= 0, x.max().item() < 1))(tile.rand(10000))", "(True, True)"},
       {"tile.bincount(tile.randint(0, 4, 4000), 4).min().item() > 900", "True"},
       // Between the ends of 64-bit integers lies more than one of them can hold.
       {"tile.randint(-2**63, 2**63 - 1, 1000, dtype=tl.int64).max().item() > 2**62", "True"},
       {"tile.randint(-2**63, 2**63 - 1, 1000, dtype=tl.int64).min().item() < -2**62", "True"},
       {"tile.randperm(5).sort().tolist()", "[0, 1, 2, 3, 4]"},
       {"tile.isnan(tile.special(1000)).any().item()", "True"},
       {"tile.isnan(tile.special(1000, nan=False)).any().item()", "False"},
       {"tile.special(1000, dtype=tl.int8).min().item()", "-128"},
       {"tile.isinf(tile.special(1000, dtype=tl.float8e5)).any().item()", "True"}});
}

TEST(Random, PhiloxMatchesThePublishedVectors) {
  // Random123's known answers for philox4x32-10.
  PhiloxWords zero = philox(0, 0);
  EXPECT_EQ(zero.word[0], 0x6627e8d5u);
  EXPECT_EQ(zero.word[1], 0xe169c58du);
  EXPECT_EQ(zero.word[2], 0xbc57ac4cu);
  EXPECT_EQ(zero.word[3], 0x9b00dbd8u);
}

TEST(Documentation, NamesOnlyWhatExists) {
  auto text = llvm::MemoryBuffer::getFile(TILE_SOURCE_DIR "/docs/host-functions.md");
  ASSERT_TRUE(text);
  std::set<std::string> seen;
  llvm::StringRef rest = (*text)->getBuffer();
  while (true) {
    size_t at = rest.find("tile.");
    if (at == llvm::StringRef::npos)
      break;
    rest = rest.drop_front(at + 5);
    seen.insert(rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).str());
  }
  EXPECT_GT(seen.size(), 40u);
  const std::set<std::string> others = {"",        "test", "bench",    "example",
                                        "check",   "copy", "measure",  "device",
                                        "num_sms", "f",    "function", "cdiv"};
  for (const std::string &name : seen)
    EXPECT_TRUE(others.count(name) || findFunction(name)) << "tile." << name;
}

TEST(Tensor, PrintsItsEnds) {
  EXPECT_EQ(evaluate("tile.arange(3)"), "tensor([0, 1, 2], i32)");
  EXPECT_EQ(evaluate("tile.arange(100, dtype=tl.float32)"),
            "tensor([0.0, 1.0, 2.0, 3.0, ..., 96.0, 97.0, 98.0, 99.0], fp32)");
  EXPECT_EQ(evaluate("tile.arange(4).reshape(2, 2)"), "tensor([[0, 1],\n        [2, 3]], i32)");
}

} // namespace
