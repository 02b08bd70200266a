//===- ControlFlowTest.cpp - branches, loops, early exits -----------------===//
#include "SpecializeHelpers.h"

using namespace tile::test;

static const char *parameters = "x: '*fp32', n: 'i32', m: 'i32', B: tl.constexpr = 16";

static Outcome run(const std::string &body, const std::string &helpers = "") {
  return kernel(parameters, body, helpers);
}
static size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(If, ConstantConditionLeavesNoTrace) {
  Outcome out = run("if B == 16:\n    tl.store(x, 1.0)\nelse:\n    tl.store(x, nothing)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_EQ(count(out.ir, "scf."), 0u);
}

TEST(If, ConstantsBehindNamesAreKnown) {
  Outcome out = run("debug = False\nif debug:\n    tl.store(x, nothing)\ntl.store(x, 1.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_EQ(count(out.ir, "scf."), 0u);
}

TEST(If, NamesThatDifferBecomeResults) {
  Outcome out = run("y = 1.0\nz = n\nif n > 0:\n    y = 2.0\ntl.store(x, y + z)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "scf.if %0 -> (f32) {"));
}

TEST(If, NamesOfBothBranchesAreVisibleAfter) {
  EXPECT_TRUE(run("if n > 0:\n    y = 2.0\nelse:\n    y = 3.0\ntl.store(x, y)"));
  EXPECT_TRUE(contains(run("if n > 0:\n    y = 2.0\ntl.store(x, y)").messages,
                       "`y` may have no value here: it is assigned only if the condition is true"));
}

TEST(If, TypesMustAgree) {
  EXPECT_TRUE(contains(run("if n > 0:\n    y = 2.0\nelse:\n    y = 3\ntl.store(x, y)").messages,
                       "`y` is fp32 if the condition is true, but i32 if it is false"));
}

TEST(If, TuplesMergeByElement) {
  Outcome out = run("t = (n, m)\nif n > 0:\n    t = (n + 1, m)\ntl.store(x, t[0] + t[1])");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "-> (i32) {"));
}

TEST(If, ConditionalExpressionIsLazy) {
  Outcome out = run("y = tl.load(x) if n > 0 else 0.0\ntl.store(x, y)");
  ASSERT_TRUE(out) << out.messages;
  size_t branch = out.ir.find("scf.if"), load = out.ir.find("tile.load");
  EXPECT_LT(branch, load);
}

TEST(If, BlockConditionIsAmbiguous) {
  EXPECT_TRUE(
      contains(run("if tl.arange(0, 16) > 3:\n    pass").messages, "must be a scalar, got i1[16]"));
}

TEST(Return, RestOfTheKernelGoesIntoTheOtherBranch) {
  Outcome out = run("if n > 0:\n    return\ntl.store(x, 1.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_EQ(count(out.ir, "scf.if"), 1u);
}

TEST(Return, PartlyReturningBranchGuardsTheRest) {
  Outcome out = run("if n > 0:\n    if m > 0:\n        return\n    tl.store(x, 1.0)\n"
                    "tl.store(x, 2.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "-> (i1)"));
  EXPECT_EQ(count(out.ir, "tile.store"), 2u);
}

TEST(Return, ValuesOfAllPathsMerge) {
  std::string helper = "@triton.jit\ndef f(a, b):\n    if a > 0:\n        return a * 2\n"
                       "    elif b > 0:\n        return b\n    c = a + b\n    return c\n\n";
  Outcome out = run("tl.store(x, f(n, m))", helper);
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "scf.if %0 -> (i32)"));
}

TEST(Return, TypesOfAllPathsMustAgree) {
  std::string helper =
      "@triton.jit\ndef f(a):\n    if a > 0:\n        return a\n    return 1.5 * a\n\n";
  EXPECT_TRUE(contains(run("y = f(n)", helper).messages, "the returned value is i32 if"));
}

TEST(Return, FromALoop) {
  Outcome out = run("for i in range(n):\n    if i == m:\n        return\n    tl.store(x + i, 1.0)\n"
                    "tl.store(x, 2.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "scf.while"));
  EXPECT_EQ(count(out.ir, "scf.if"), 2u);
}

TEST(For, CarriesWhatItAssigns) {
  Outcome out = run("acc = tl.zeros([B], tl.float32)\nfor i in range(0, n, B):\n    acc += i\n"
                    "tl.store(x + tl.arange(0, B), acc)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "iter_args"));
  EXPECT_TRUE(contains(out.ir, "-> (tensor<16xf32>) : i32"));
}

TEST(For, CarriedTypesAreFixed) {
  EXPECT_TRUE(contains(run("acc = 0\nfor i in range(n):\n    acc += 1.5").messages,
                       "`acc` is i32 before the loop but fp32 after an iteration"));
}

TEST(For, NamesOfTheBodyEndWithIt) {
  EXPECT_TRUE(contains(run("for i in range(n):\n    y = 1.0\ntl.store(x, y)").messages,
                       "it is assigned only inside the loop"));
}

TEST(For, ItsVariableKeepsTheLastValue) {
  Outcome open = run("for i in range(n):\n    pass\ntl.store(x, i)");
  ASSERT_TRUE(open) << open.messages;
  EXPECT_EQ(count(open.ir, "arith.select"), 0u); // nothing else it could be
  Outcome bound = run("i = 7\nfor i in range(n):\n    pass\ntl.store(x, i)");
  ASSERT_TRUE(bound) << bound.messages;
  EXPECT_EQ(count(bound.ir, "arith.select"), 1u);
  EXPECT_FALSE(contains(bound.ir, "iter_args"));
  Outcome changed = run("for i in range(n):\n    i = i * 2\ntl.store(x, i)");
  ASSERT_TRUE(changed) << changed.messages;
  EXPECT_TRUE(contains(changed.ir, "iter_args"));
}

TEST(For, ItsVariableHasNoLastValue) {
  EXPECT_TRUE(contains(run("for i in range(5, 5):\n    pass\ntl.store(x, i)").messages,
                       "`i` may have no value here: its loop runs no turn"));
  EXPECT_TRUE(contains(run("i = 1.5\nfor i in range(n):\n    pass\ntl.store(x, i)").messages,
                       "it is fp32 before the loop and i32 in it"));
  EXPECT_TRUE(contains(run("for i in range(n):\n    i = x + i\ntl.store(x, i)").messages,
                       "it is i32 when the loop begins and *fp32 after an iteration"));
}

TEST(For, NegativeStepCountsDown) {
  Outcome out = run("for i in range(10, 0, -3):\n    tl.store(x + i, 1.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "arith.subi"));
  EXPECT_TRUE(contains(run("for i in range(0, n, 0):\n    pass").messages, "must not be 0"));
}

TEST(For, BoundsDecideTheTypeOfTheVariable) {
  Outcome out = kernel("x: '*fp32', n: 'i64'", "for i in range(n):\n    tl.store(x + i, 1.0)");
  EXPECT_TRUE(contains(out.ir, ": i64 {"));
  EXPECT_TRUE(
      contains(run("for i in range(1.5):\n    pass").messages, "scalar integers, got fp32"));
}

TEST(For, KeywordsBecomeAttributes) {
  Outcome out = run("for i in tl.range(0, n, num_stages=4, flatten=True, disable_licm=False):\n"
                    "    tl.store(x + i, 1.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "{tile.flatten, tile.num_stages = 4 : i32}"));
  Outcome byPosition = run("for i in tl.range(0, n, 1, 4, None, True):\n    tl.store(x + i, 1.0)");
  EXPECT_TRUE(
      contains(byPosition.ir, "{tile.disallow_acc_multi_buffer, tile.num_stages = 4 : i32}"))
      << byPosition.messages;
  EXPECT_TRUE(contains(run("for i in range(0, n, 1, 4):\n    pass").messages,
                       "a range has at most three arguments"));
  EXPECT_TRUE(contains(run("for i in tl.range(0, n, stages=4):\n    pass").messages,
                       "`stages` is not an argument of `tl.range`"));
}

TEST(For, StaticRangeIsUnrolled) {
  Outcome out = run("for i in tl.static_range(1, 7, 2):\n    tl.store(x + i, float(i))\n"
                    "tl.store(x, i)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_EQ(count(out.ir, "tile.store"), 4u);
  EXPECT_EQ(count(out.ir, "scf."), 0u);
  EXPECT_TRUE(contains(run("for i in tl.static_range(n):\n    pass").messages,
                       "must be compile-time integers"));
  EXPECT_TRUE(
      contains(run("for i in tl.static_range(10**9):\n    pass").messages, "too many to unroll"));
}

TEST(For, OtherIterablesAreUnrolled) {
  Outcome out = run("for i, v in enumerate((n, m)):\n    tl.store(x + i, v)\n"
                    "for a, b in zip([1, 2], [n, m]):\n    tl.store(x + a, b)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_EQ(count(out.ir, "tile.store"), 4u);
}

TEST(For, UnrollingIsBounded) {
  EXPECT_TRUE(contains(run("for i in tl.static_range(1000):\n    for j in tl.static_range(1000):\n"
                           "        pass")
                           .messages,
                       "more than 100000 iterations are unrolled"));
}

TEST(For, BreakAndContinue) {
  Outcome out = run("s = 0\nfor i in range(n):\n    if i == 3:\n        continue\n"
                    "    if i == m:\n        break\n    s += i\ntl.store(x, s)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "scf.while"));
  out = run("s = 0\nfor i in range(n):\n    if i == 3:\n        continue\n    s += i\n"
            "tl.store(x, s)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "scf.for"));
}

TEST(For, BreakInAnUnrolledLoop) {
  Outcome out = run("for i in tl.static_range(8):\n    if i == 2:\n        break\n"
                    "    tl.store(x + i, 1.0)");
  EXPECT_EQ(count(out.ir, "tile.store"), 2u);
  out = run("for i in tl.static_range(3):\n    if n == i:\n        break\n"
            "    tl.store(x + i, 1.0)\ntl.store(x, 5.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_EQ(count(out.ir, "tile.store"), 4u);
}

TEST(While, CarriesAndTests) {
  Outcome out = run("i = 0\nwhile i < n:\n    i += 1\ntl.store(x, i)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "scf.while (%arg3 = %c0_i32) : (i32) -> i32"));
  EXPECT_TRUE(run("i = 0\nwhile True:\n    i += 1\n    if i > n:\n        break\ntl.store(x, i)"));
}

TEST(While, WalrusInTheCondition) {
  Outcome out = run("i = 0\ns = 0\nwhile (i := i + 1) < n:\n    s += i\ntl.store(x, s)");
  ASSERT_TRUE(out) << out.messages;
}

TEST(Loops, Nested) {
  Outcome out = run("s = 0\nfor i in range(n):\n    j = 0\n    while j < m:\n        j += 1\n"
                    "        if j == i:\n            break\n        s += 1\n    s += j\n"
                    "tl.store(x, s)");
  ASSERT_TRUE(out) << out.messages;
}

TEST(Expressions, ChainedComparison) {
  Outcome out = run("if 0 < n < 10:\n    tl.store(x, 1.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "arith.andi"));
}

TEST(Expressions, ConstantOperandsOfAndOrVanish) {
  Outcome out = run("if B == 16 or undefined_name:\n    tl.store(x, 1.0)\n"
                    "if B == 3 and undefined_name:\n    tl.store(x, 2.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_EQ(count(out.ir, "tile.store"), 1u);
}

TEST(Expressions, ConstantOperandsDecideBehindNumbersToo) {
  Outcome out = run("if n > 3 and B == 3:\n    tl.store(x, undefined_name)\n"
                    "if n > 3 or B == 16:\n    tl.store(x, 1.0)\n"
                    "else:\n    tl.store(x, undefined_name)\n"
                    "if n > 3 and B == 16 and m > 3:\n    tl.store(x, 2.0)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_EQ(count(out.ir, "tile.store"), 2u);
  EXPECT_EQ(count(out.ir, "scf.if"), 1u);
}
