//===- ObjectsTest.cpp - aggregates: what is accepted and what is said ----===//
#include "SpecializeHelpers.h"

using namespace tile::test;

static const char *classes = R"(
from triton.language.core import _aggregate as aggregate

@aggregate
class Point:
    x: tl.tensor
    y: tl.tensor
    NAME: tl.constexpr

    def __init__(self, x, y, NAME=3):
        self.x = x
        self.y = y
        self.NAME = NAME

    @triton.jit
    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @triton.jit
    def move(self, by):
        self.x = self.x + by

@aggregate
class Half:
    a: tl.tensor
    b: tl.tensor

    def __init__(self, a):
        self.a = a

@aggregate
class Typo:
    first: tl.tensor

    def __init__(self, a):
        self.frist = a

class Plain:
    pass

class Counted:
    n: tl.tensor
    STEP: tl.constexpr = 3

    def __init__(self, n):
        self.n = n
        self.STEP = 4

    @triton.jit
    def next(self):
        return self.n + self.STEP

Counter = aggregate(Counted)

)";

static Outcome run(const std::string &body) {
  return kernel("x: '*fp32', n: 'i32', m: 'i32'", body, classes);
}

TEST(Objects, MethodsAreExpanded) {
  Outcome out = run("p = Point(n, m)\ntl.static_assert(p.NAME == 3)\ntl.store(x, p.dot(p))");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "arith.muli %arg1, %arg1"));
}

TEST(Objects, AggregatesMadeByACall) {
  Outcome out = run("c = Counter(n)\ntl.static_assert(c.STEP == 4)\ntl.store(x, c.next())");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "arith.addi %arg1"));
  EXPECT_TRUE(contains(kernel("x: '*fp32'", "Wrong(x)",
                              "from triton.language.core import _aggregate\n"
                              "Wrong = _aggregate(3)\n")
                           .messages,
                       "`triton.aggregate` needs a class, got `int`"));
}

TEST(Objects, LoopsCarryTheFieldsThatRunTimeKnows) {
  Outcome out = run("p = Point(n, m)\nfor i in range(n):\n  p = Point(p.y, p.x + i)\n"
                    "tl.static_assert(p.NAME == 3)\ntl.store(x, p.x)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "-> (i32, i32)"));
}

TEST(Objects, ConstantFieldsStayTheSame) {
  EXPECT_TRUE(contains(run("p = Point(n, m)\nfor i in range(n):\n  p = Point(n, m, 4)").messages,
                       "`p` is Point(i32, i32, int 3) before the loop but Point(i32, i32, int 4) "
                       "after an iteration"));
  EXPECT_TRUE(contains(run("p = Point(n, m, NAME=n)").messages,
                       "field `NAME` of `Point` is a `tl.constexpr` and needs a compile-time "
                       "value, got i32"));
}

TEST(Objects, FieldsAreAssignedOnceMade) {
  EXPECT_TRUE(contains(run("p = Point(n, m)\np.x = m").messages,
                       "fields can only be assigned in `__init__`"));
  EXPECT_TRUE(contains(run("p = Point(n, m)\np.move(1)").messages,
                       "fields can only be assigned in `__init__`"));
  EXPECT_TRUE(
      contains(run("p = Half(n)").messages, "`__init__` of `Half` does not assign the field `b`"));
  EXPECT_TRUE(contains(run("p = Typo(n)").messages,
                       "`Typo` declares no field `frist`; did you mean `first`?"));
  EXPECT_TRUE(contains(run("p = tl.aggregate_replace(Point(n, m), z=1)").messages,
                       "`Point` has no field `z`"));
}

TEST(Objects, BranchesNeedOneClass) {
  EXPECT_TRUE(
      contains(run("if n > 0:\n  p = Point(n, m)\nelse:\n  p = (n, m, 3)\ny = p.x").messages,
               "is Point(i32, i32, int 3) if the condition is true"));
}

TEST(Objects, OtherClassesAreRefused) {
  Outcome out = run("p = Plain()");
  EXPECT_TRUE(out.unsupported);
  EXPECT_TRUE(contains(out.messages, "objects of class `Plain` are not supported in kernels"));
}
