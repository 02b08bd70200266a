//===- CallsTest.cpp - functions, builtins, compile-time calls ------------===//
#include "SpecializeHelpers.h"

using namespace tile::test;

static const char *helpers = R"(
from collections import namedtuple
Pair = namedtuple("Pair", ["a", "b"])
SCALE = tl.constexpr(2.0)

@triton.jit
def add(a, b=1, *, FLAG: tl.constexpr = True):
    return a + b if FLAG else a - b

@triton.jit
def pair(a, b):
    return a + b, a - b

@triton.jit
def apply(f, a, b):
    return f(a, b)

@triton.jit
def forever(n):
    return forever(n) + 1

@triton.jit
def branching(n):
    return branching(n) + branching(n - 1)

@triton.jit
def fibonacci(N: tl.constexpr):
    return N if N < 2 else fibonacci(N - 1) + fibonacci(N - 2)

@triton.jit
def factorial(N: tl.constexpr):
    if N <= 1:
        return 1
    return N * factorial(N - 1)

@triton.jit
def deep(a):
    return deeper(a)

@triton.jit
def deeper(a):
    return a + no_such_name

@triton.jit
def wished(N: tl.constexpr):
    return N + 1

@triton.constexpr_function
def half(n):
    return n // 2

def plain(n):
    return n

@triton.jit
def maximum_pair(v1, i1, v2, i2):
    take = v1 > v2
    return tl.where(take, v1, v2), tl.where(take, i1, i2)

)";

static Outcome run(const std::string &body) {
  return kernel("x: '*fp32', n: 'i32', m: 'i32', B: tl.constexpr = 16", body, helpers);
}

TEST(Calls, ANameMeansItsLastDefinition) {
  tile::CompileOptions options;
  options.kernel = "k";
  const std::string both = prelude() + R"(
@triton.jit
def helper():
    return 10.0

@triton.jit
def k(x: "*fp32"):
    tl.store(x, 1.0 + helper())

@triton.jit
def helper():
    return 20.0

@triton.jit
def k(x: "*fp32"):
    tl.store(x, 2.0 + helper())
)";
  EXPECT_TRUE(contains(specialize(both, options).ir, "2.200000e+01"));
  const std::string branches = prelude() + R"(
if True:
    @triton.jit
    def k(x: "*fp32"):
        tl.store(x, 1.0)
else:
    @triton.jit
    def k(x: "*fp32"):
        tl.store(x, 2.0)
)";
  EXPECT_TRUE(contains(specialize(branches, options).ir, "1.000000e+00"));
  options.kernel = "C.k";
  const std::string members = prelude() + R"(
class C:
    @triton.jit
    def k(x: "*fp32"):
        tl.store(x, 1.0)

    @triton.jit
    def k(x: "*fp32"):
        tl.store(x, 2.0)
)";
  EXPECT_TRUE(contains(specialize(members, options).ir, "2.000000e+00"));
}

TEST(Calls, ExpandInPlace) {
  Outcome out = run("tl.store(x, add(n, m))");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "arith.addi %arg1, %arg2"));
  EXPECT_EQ(out.ir.find("call"), std::string::npos);
}

TEST(Calls, DefaultsKeywordsAndStars) {
  EXPECT_TRUE(
      contains(run("tl.store(x, add(b=m, a=n, FLAG=False))").ir, "arith.subi %arg1, %arg2"));
  EXPECT_TRUE(contains(run("t = (n, m)\ntl.store(x, add(*t))").ir, "arith.addi %arg1, %arg2"));
  EXPECT_FALSE(run("tl.store(x, add())"));
  EXPECT_FALSE(run("tl.store(x, add(n, c=3))"));
}

TEST(Calls, SeveralResults) {
  Outcome out = run("s, d = pair(n, m)\ntl.store(x, s * d)");
  ASSERT_TRUE(out) << out.messages;
}

TEST(Calls, StarredTargets) {
  Outcome out = run("a, *b, c = (n, 1, 2, m)\nd, *e = (n, m)\n"
                    "tl.static_assert(len(b) == 2 and len(e) == 1)\ntl.store(x, a - c)");
  EXPECT_TRUE(contains(out.ir, "arith.subi %arg1, %arg2")) << out.messages;
  EXPECT_TRUE(contains(run("a, *b, c = (n,)").messages, "cannot unpack 1 value into 3 names"));
}

TEST(Calls, FunctionsAreValues) {
  EXPECT_TRUE(contains(run("tl.store(x, apply(add, n, m))").ir, "arith.addi"));
  EXPECT_TRUE(contains(run("tl.store(x, apply(tl.maximum, n, m))").ir, "arith.maxsi"));
}

TEST(Calls, RecursionOverConstants) {
  EXPECT_TRUE(contains(run("tl.store(x, factorial(5))").ir, "1.200000e+02"));
}

TEST(Calls, ExpansionIsBounded) {
  EXPECT_TRUE(contains(run("tl.store(x, branching(n))").messages, "seems to call itself"));
  EXPECT_TRUE(contains(run("tl.store(x, fibonacci(10))").ir, "5.500000e+01"));
  EXPECT_TRUE(contains(run("tl.store(x, fibonacci(40))").messages, "more than 50000 calls"));
}

TEST(Calls, EndlessRecursionIsAnError) {
  Outcome out = run("tl.store(x, forever(n))");
  EXPECT_TRUE(contains(out.messages, "`forever` seems to call itself without an end"));
  EXPECT_TRUE(contains(out.messages, "in the expansion of `forever` called here"));
  EXPECT_TRUE(contains(out.messages, "calls further out"));
}

TEST(Calls, ErrorsShowTheCallChain) {
  Outcome out = run("tl.store(x, deep(n))");
  EXPECT_TRUE(contains(out.messages, "unknown name `no_such_name`"));
  EXPECT_TRUE(contains(out.messages, "in the expansion of `deeper` called here"));
  EXPECT_TRUE(contains(out.messages, "in the expansion of `deep` called here"));
}

TEST(Calls, ConstexprFunctionsRunAtCompileTime) {
  EXPECT_TRUE(contains(run("v = tl.arange(0, half(B))\ntl.store(x + v, v)").ir, "0 to 8"));
  EXPECT_TRUE(run("v = tl.arange(0, plain(B))"));
  EXPECT_TRUE(contains(run("y = plain(n)").messages, "decorate it with `@triton.jit`"));
}

TEST(Calls, NamedTuples) {
  Outcome out = run("p = Pair(n, 2)\nfor i in range(m):\n    p = Pair(a=p.a + 1, b=p.b)\n"
                    "tl.store(x, p.a * p.b)");
  ASSERT_TRUE(out) << out.messages;
}

TEST(Calls, ConstexprParametersOfHelpersTakeRunTimeValues) {
  EXPECT_TRUE(run("tl.store(x, add(n, 1, FLAG=True))\ny = wished(n)"));
  // What is done with it may still need a constant.
  EXPECT_TRUE(contains(run("y = tl.arange(0, wished(n))").messages, "compile-time"));
}

TEST(Calls, TensorsHaveMethods) {
  Outcome out = run("v = tl.load(x + tl.arange(0, B))\n"
                    "tl.store(x, v.sum(axis=0) + v.exp().max(0) + v.to(tl.float16))");
  EXPECT_FALSE(out); // a block cannot go through a scalar pointer
  out = run("v = tl.load(x + tl.arange(0, B))\ntl.store(x, v.sum(axis=0) + v.exp().max(0))");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(run("y = n.su()").messages, "did you mean `sum`?"));
}

TEST(Calls, BuiltinArgumentsAreChecked) {
  EXPECT_TRUE(contains(run("y = tl.load()").messages, "argument `pointer` is missing"));
  EXPECT_TRUE(contains(run("y = tl.load(x, msk=True)").messages, "did you mean `mask`?"));
  EXPECT_TRUE(contains(run("y = tl.arange(0, 1, 2)").messages, "at most 2 are taken"));
  EXPECT_TRUE(contains(run("y = tl.arange(0, end=16, start=1)").messages, "given twice"));
}

TEST(Calls, AnyFunctionCombines) {
  Outcome out = run("v = tl.load(x + tl.arange(0, B))\n"
                    "best, at = tl.reduce((v, tl.arange(0, B)), 0, maximum_pair)\n"
                    "tl.store(x, best + at)\n"
                    "tl.store(x + tl.arange(0, B), tl.associative_scan(v, 0, add, reverse=True))");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "-> f32, i32"));
  EXPECT_TRUE(contains(out.ir, "reverse = true"));
  EXPECT_TRUE(
      contains(run("y = tl.reduce(tl.arange(0, B), 0, pair)").messages, "must return 1 value,"));
  EXPECT_TRUE(contains(run("y = tl.reduce(tl.arange(0, B), 0, tl.exp)").messages, "at most 1"));
}

TEST(Calls, StaticAssertionsAndPrints) {
  EXPECT_TRUE(run("tl.static_assert(B == 16)"));
  EXPECT_TRUE(contains(run("tl.static_assert(B == 3, f'B is {B}')").messages,
                       "static assertion failed: B is 16"));
  EXPECT_TRUE(contains(run("tl.static_assert(n == 3)").messages, "only known at run time"));
}

TEST(Calls, WhatIsMissingIsUnsupported) {
  Outcome out = run("y = tl.extra.hip.memrealtime()");
  EXPECT_TRUE(out.unsupported);
  EXPECT_TRUE(contains(out.messages, "is not supported"));
  out = run("y = tl.extra.libdevice.j2(1.0)");
  EXPECT_FALSE(out.unsupported);
  EXPECT_TRUE(contains(out.messages, "libdevice has no function `j2`"));
}

TEST(Calls, GlobalsAreRead) {
  EXPECT_TRUE(contains(run("tl.store(x, SCALE * n)").ir, "2.000000e+00"));
}

TEST(Calls, FoldedArgumentsHaveMethods) {
  Outcome out = kernel("x: '*fp32', stride: 'i32:1'",
                       "wide = stride.to(tl.int64)\ntl.static_assert(wide.dtype == tl.int64)\n"
                       "tl.static_assert(stride.dtype == tl.int32)\ntl.store(x + wide, 1.0)");
  EXPECT_TRUE(out) << out.messages;
}

// One value stands for a tuple of one: `(K)` where `(K,)` is meant.
TEST(Calls, BlockPointersOfOneDimension) {
  Outcome out = run("p = tl.make_block_ptr(x, n, 1, (m * B), B, 0)\n"
                    "p = tl.advance(p, m)\n"
                    "tl.store(p, tl.load(p, boundary_check=0), boundary_check=(0))");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "tile.load"));
  EXPECT_TRUE(contains(out.ir, "tensor<16xi1>")) << "the check must not get lost";
  EXPECT_TRUE(contains(run("p = tl.make_block_ptr(x, (n, m), (m, 1), 0, (B, 8), (1, 0))").messages,
                       "must be a tuple of 2 integers"));
  EXPECT_TRUE(contains(
      run("p = tl.make_block_ptr(x, n, 1, 0, B, 0)\ny = tl.load(p, boundary_check=1)").messages,
      "must be dimensions below 1"));
}

TEST(Calls, BlockPointers) {
  const char *loop = "p = tl.make_block_ptr(x, (n, m), (m, 1), (0, 0), (B, 8), (1, 0))\n"
                     "s = tl.zeros([B, 8], tl.float32)\n"
                     "for i in range(0, m, 8):\n"
                     "    s += tl.load(p, boundary_check=(0, 1), padding_option='zero')\n"
                     "    p = tl.advance(p, (0, 8))\n"
                     "tl.static_assert(p.dtype.element_ty == tl.float32)\n"
                     "tl.store(p, s, boundary_check=(0,))";
  Outcome out = run(loop);
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "tile.load"));
  EXPECT_TRUE(contains(out.ir, "tensor<16x8xi1>"));
  EXPECT_TRUE(contains(run("p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (1,))").messages,
                       "must be a permutation"));
  EXPECT_TRUE(contains(run("p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))\n"
                           "y = tl.load(p, mask=True)")
                           .messages,
                       "takes `boundary_check`"));
}
