//===- SizeTest.cpp - sizes that are formulas obey the laws of polynomials ===//
#include "ir/graph/Size.h"
#include "gtest/gtest.h"
#include <random>

using namespace tile::graph;

namespace {

Size read(const char *text) {
  std::string error;
  std::optional<Size> size = Size::parse(text, error);
  EXPECT_TRUE(size) << text << ": " << error;
  return size.value_or(Size(-1));
}

std::string whyNot(const char *text) {
  std::string error;
  EXPECT_FALSE(Size::parse(text, error)) << text;
  return error;
}

Size randomSize(std::mt19937 &random, unsigned depth = 3) {
  switch (depth == 0 ? random() % 2 : random() % 5) {
  case 0:
    return Size(int64_t(random() % 9) - 4);
  case 1:
    return Size::symbol(std::string(1, char('K' + random() % 4)));
  case 2:
    return randomSize(random, depth - 1) + randomSize(random, depth - 1);
  case 3:
    return randomSize(random, depth - 1) - randomSize(random, depth - 1);
  default:
    return randomSize(random, depth - 1) * randomSize(random, depth - 1);
  }
}

const Bindings numbers = {{"K", 3}, {"L", 5}, {"M", -2}, {"N", 7}};

TEST(Size, IsTakenApart) {
  std::string text;
  read("3*K*K - L + 2").forEachTerm([&](llvm::ArrayRef<std::string> names, int64_t factor) {
    text += std::to_string(factor);
    for (const std::string &name : names)
      text += "*" + name;
    text += ";";
  });
  EXPECT_EQ(text, "2;3*K*K;-1*L;");
  std::string name;
  read("(K + 1)//2").forEachTerm([&](llvm::ArrayRef<std::string> names, int64_t) {
    name = names.front();
  });
  auto quotient = Size::quotientOf(name);
  ASSERT_TRUE(quotient);
  EXPECT_EQ(quotient->first, read("K + 1"));
  EXPECT_EQ(quotient->second, 2);
  EXPECT_FALSE(Size::quotientOf("K"));
}

TEST(Size, EqualFormulasAreEqual) {
  EXPECT_EQ(read("2*(M + 1)"), read("M + M + 2"));
  EXPECT_EQ(read("M*N - N*M"), Size(0));
  EXPECT_EQ(read("(M + N)*(M - N)"), read("M*M - N*N"));
  EXPECT_NE(read("M*N"), read("M + N"));
}

TEST(Size, PrintsAsPeopleWrite) {
  EXPECT_EQ(read("1+K*2").str(), "2*K + 1");
  EXPECT_EQ(read("N - M").str(), "-M + N");
  EXPECT_EQ(read("3 - 4").str(), "-1");
  EXPECT_EQ(read("0*M").str(), "0");
  EXPECT_EQ(shapeText({Size::symbol("M")}), "(M,)");
  EXPECT_EQ(shapeText({}), "()");
}

TEST(Size, RandomFormulasObeyTheLaws) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Size a = randomSize(random), b = randomSize(random), c = randomSize(random);
    EXPECT_EQ(a + b, b + a);
    EXPECT_EQ(a * b, b * a);
    EXPECT_EQ((a + b) * c, a * c + b * c);
    EXPECT_EQ(a - a, Size(0));
    EXPECT_EQ(read(a.str().c_str()), a) << a.str();
    EXPECT_EQ(*(a * b).evaluate(numbers), *a.evaluate(numbers) * *b.evaluate(numbers));
    EXPECT_EQ(*(a - b).evaluate(numbers), *a.evaluate(numbers) - *b.evaluate(numbers));
  }
}

TEST(Size, DividesByProducts) {
  EXPECT_EQ(read("6*M*N + 4*N").dividedBy(read("2*N")), read("3*M + 2"));
  EXPECT_FALSE(read("M*N + 1").dividedBy(read("N")));
  EXPECT_FALSE(read("3*M").dividedBy(read("2")));
  EXPECT_FALSE(read("M").dividedBy(Size(0)));
}

TEST(Size, SolvesForOneName) {
  bool isWhole = false;
  EXPECT_EQ(read("2*K + N").solveFor("K", 13, {{"N", 7}}, isWhole), 3);
  EXPECT_TRUE(isWhole);
  (void)read("2*K").solveFor("K", 7, {}, isWhole);
  EXPECT_FALSE(isWhole);
  EXPECT_FALSE(read("K*K").solveFor("K", 9, {}, isWhole));
  EXPECT_FALSE(read("K*N").solveFor("K", 9, {}, isWhole));
}

TEST(Size, WhatDoesNotFitHasNoValue) {
  EXPECT_FALSE(read("M*M*M").evaluate({{"M", int64_t(1) << 32}}));
  EXPECT_FALSE(read("M + M").evaluate({{"M", INT64_MAX}}));
  EXPECT_FALSE(read("M").evaluate({}));
}

TEST(Size, NumbersBeyondAllAreNoSizes) {
  Size large(int64_t(1) << 61), n = Size::symbol("N");
  EXPECT_EQ((large + large).evaluate({}), int64_t(1) << 62);
  for (const Size &size : {large + large + large, large * large, large * large * n,
                           n * large * large - n * large * large, Size(0) - large - large - large,
                           Size(INT64_MIN), large * large + n, n - large * large}) {
    EXPECT_FALSE(size.evaluate(numbers)) << size.str();
    EXPECT_EQ(read(size.str().c_str()), size);
  }
}

TEST(Size, LongFormulasAreNoSizes) {
  Size sum = read("K + L + M + N + 1"), power = Size::symbol("N");
  for (unsigned i = 0; i < 12; ++i)
    sum = sum * sum;
  for (unsigned i = 0; i < 40; ++i)
    power = power * power;
  EXPECT_FALSE(sum.evaluate(numbers)) << sum.str();
  EXPECT_FALSE(power.evaluate(numbers)) << power.str();
}

TEST(Size, IsRoundedUp) {
  EXPECT_EQ(read("4*M + 5").dividedUpBy(4), read("M + 2"));
  EXPECT_EQ(read("4*M - 5").dividedUpBy(4), read("M - 1"));
  EXPECT_EQ(Size(7).dividedUpBy(int64_t(1) << 62), Size(1));
  EXPECT_EQ(*read("M").dividedUpBy(int64_t(1) << 62)->evaluate({{"M", 3}}), 1);
}

TEST(Size, QuotientsHaveTheirValue) {
  Size half = read("(M + 1)//2"), third = read("M*N//3");
  for (int64_t m = 0; m < 9; ++m) {
    Bindings of = {{"M", m}, {"N", 5}};
    EXPECT_EQ(half.evaluate(of), (m + 1) / 2);
    EXPECT_EQ(third.evaluate(of), m * 5 / 3);
    EXPECT_EQ(read("M//2 + (M + 1)//2").evaluate(of), m);
    EXPECT_EQ(read("(M - 4)//2").evaluate(of), std::max<int64_t>((m - 4) / 2, 0));
    EXPECT_EQ(read("((M + 3)//2 + N)//4").evaluate(of), ((m + 3) / 2 + 5) / 4);
  }
  EXPECT_EQ(half.str(), "((M + 1)//2)");
  for (const Size &size : {half, third, half * third + read("2*M"), read("((M + 3)//2 + N)//4")})
    EXPECT_EQ(read(size.str().c_str()), size) << size.str();
  EXPECT_EQ(read("4*M//2"), read("2*M"));
  EXPECT_EQ(read("7//2"), Size(3));
  EXPECT_EQ(read("M + 1").dividedUpBy(2), read("(M + 2)//2"));
}

TEST(Size, QuotientsAreNoNames) {
  Size half = read("(M + 1)//2");
  EXPECT_FALSE(half.name());
  std::set<std::string> names;
  half.collectNames(names);
  EXPECT_EQ(names, std::set<std::string>({"M"}));
  bool isWhole = false;
  EXPECT_FALSE(half.solveFor("M", 3, {}, isWhole));
  EXPECT_FALSE(half.evaluate({{half.str(), 3}}));
}

TEST(Size, SaysWhatIsWrong) {
  EXPECT_EQ(whyNot("M//N"), "a size is divided by a number from 1 on");

  EXPECT_EQ(whyNot("M +"), "a size is missing");
  EXPECT_EQ(whyNot("M / 2"), "`/ 2` does not belong here");
  EXPECT_EQ(whyNot("(M"), "a `)` is missing");
  EXPECT_EQ(whyNot("99999999999999999999"), "`99999999999999999999` is too large");
}

} // namespace
