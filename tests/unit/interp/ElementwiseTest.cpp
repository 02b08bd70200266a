//===- ElementwiseTest.cpp - arithmetic over awkward values ---------------===//
#include "InterpTest.h"
#include "Reference.h"
#include <functional>

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

/// All pairs of `values`, as two vectors.
template <class T> std::pair<std::vector<T>, std::vector<T>> pairsOf(const std::vector<T> &values) {
  std::pair<std::vector<T>, std::vector<T>> out;
  for (T a : values)
    for (T b : values) {
      out.first.push_back(a);
      out.second.push_back(b);
    }
  return out;
}

template <class Out, class In>
std::vector<Out> binary(const std::string &op, const std::string &type, const std::string &out,
                        std::vector<In> a, std::vector<In> b) {
  std::vector<Out> r(a.size());
  expectRuns(blockKernel(a.size(), {type, type}, out,
                         "%r = " + op + " %x0, %x1 : " + block(a.size(), type)),
             a, b, r);
  return r;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

using Wide = __int128;

struct IntCase {
  const char *op;
  /// From the operands as signed and as unsigned numbers, and the width.
  std::function<Wide(Wide a, Wide b, Wide ua, Wide ub, int width)> expected;
};

Wide floorDiv(Wide a, Wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

const IntCase intCases[] = {
    {"arith.addi", [](Wide a, Wide b, Wide, Wide, int) { return a + b; }},
    {"arith.subi", [](Wide a, Wide b, Wide, Wide, int) { return a - b; }},
    {"arith.muli", [](Wide a, Wide b, Wide, Wide, int) { return a * b; }},
    {"arith.divsi", [](Wide a, Wide b, Wide, Wide, int) { return b ? a / b : Wide(-1); }},
    {"arith.divui", [](Wide, Wide, Wide a, Wide b, int) { return b ? a / b : Wide(-1); }},
    {"arith.remsi", [](Wide a, Wide b, Wide, Wide, int) { return b ? a % b : Wide(-1); }},
    {"arith.remui", [](Wide, Wide, Wide a, Wide b, int) { return b ? a % b : Wide(-1); }},
    {"arith.floordivsi",
     [](Wide a, Wide b, Wide, Wide, int) { return b ? floorDiv(a, b) : Wide(-1); }},
    {"arith.ceildivsi",
     [](Wide a, Wide b, Wide, Wide, int) { return b ? -floorDiv(-a, b) : Wide(-1); }},
    {"arith.ceildivui",
     [](Wide, Wide, Wide a, Wide b, int) { return b ? (a + b - 1) / b : Wide(-1); }},
    {"arith.andi", [](Wide a, Wide b, Wide, Wide, int) { return a & b; }},
    {"arith.ori", [](Wide a, Wide b, Wide, Wide, int) { return a | b; }},
    {"arith.xori", [](Wide a, Wide b, Wide, Wide, int) { return a ^ b; }},
    {"arith.shli", [](Wide, Wide, Wide a, Wide b, int w) { return b < w ? a << int(b) : Wide(0); }},
    {"arith.shrui",
     [](Wide, Wide, Wide a, Wide b, int w) { return b < w ? a >> int(b) : Wide(0); }},
    {"arith.shrsi",
     [](Wide a, Wide, Wide, Wide b, int w) { return a >> int(b < w ? b : Wide(w - 1)); }},
    {"arith.maxsi", [](Wide a, Wide b, Wide, Wide, int) { return a > b ? a : b; }},
    {"arith.minsi", [](Wide a, Wide b, Wide, Wide, int) { return a < b ? a : b; }},
    {"arith.maxui", [](Wide, Wide, Wide a, Wide b, int) { return a > b ? a : b; }},
    {"arith.minui", [](Wide, Wide, Wide a, Wide b, int) { return a < b ? a : b; }},
};

template <class S> void checkInts(const char *type, const std::vector<S> &values) {
  using U = std::make_unsigned_t<S>;
  constexpr int width = 8 * sizeof(S);
  auto [a, b] = pairsOf(values);
  for (const IntCase &c : intCases) {
    auto r = binary<S>(c.op, type, type, a, b);
    for (size_t k = 0; k < a.size(); ++k)
      ASSERT_EQ(r[k], S(U(c.expected(a[k], b[k], U(a[k]), U(b[k]), width))))
          << c.op << " " << type << " " << int64_t(a[k]) << " " << int64_t(b[k]);
  }
  auto high = binary<U>("tile.umulhi", type, type, a, b);
  for (size_t k = 0; k < a.size(); ++k) {
    auto product = (unsigned __int128)(U(a[k])) * U(b[k]);
    ASSERT_EQ(high[k], U(product >> width)) << type;
  }
}
template <class S> std::vector<S> someInts() {
  std::vector<S> v = {0, 1, 2, 3, 5, 7, 8, 13, 31, 32, 33, 63, 64, 100, -1, -2, -3, -7, -100};
  for (S x : {std::numeric_limits<S>::min(), std::numeric_limits<S>::max()})
    for (int d : {-2, -1, 0, 1, 2})
      v.push_back(S(std::make_unsigned_t<S>(x) + std::make_unsigned_t<S>(d)));
  v.push_back(S(std::numeric_limits<S>::max() / 2));
  v.push_back(S(0x5555555555555555));
  return v;
}

TEST(Elementwise, EightBitIntegersExhaustively) {
  std::vector<int8_t> all;
  for (int v = -128; v < 128; ++v)
    all.push_back(int8_t(v));
  checkInts<int8_t>("i8", all);
}
TEST(Elementwise, WiderIntegers) {
  checkInts<int16_t>("i16", someInts<int16_t>());
  checkInts<int32_t>("i32", someInts<int32_t>());
  checkInts<int64_t>("i64", someInts<int64_t>());
}

/// One bit is an integer like any other: its signed values are 0 and -1.
TEST(Elementwise, OneBitIntegers) {
  std::vector<int8_t> a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
  for (const IntCase &c : intCases) {
    std::vector<int8_t> r(4);
    std::string body = replace(R"(
      %a = arith.trunci %x0 : tensor<4xi8> to tensor<4xi1>
      %b = arith.trunci %x1 : tensor<4xi8> to tensor<4xi1>
      %c = OP %a, %b : tensor<4xi1>
      %r = arith.extui %c : tensor<4xi1> to tensor<4xi8>)",
                               "OP", c.op);
    expectRuns(blockKernel(4, {"i8", "i8"}, "i8", body), a, b, r);
    for (size_t k = 0; k < 4; ++k)
      EXPECT_EQ(r[k], int8_t(c.expected(-a[k], -b[k], a[k], b[k], 1) & 1))
          << c.op << " " << int(a[k]) << " " << int(b[k]);
  }
}

TEST(Elementwise, IntegerComparisons) {
  auto [a, b] = pairsOf(someInts<int32_t>());
  std::pair<const char *, std::function<bool(int32_t, int32_t)>> cases[] = {
      {"eq", [](int32_t x, int32_t y) { return x == y; }},
      {"ne", [](int32_t x, int32_t y) { return x != y; }},
      {"slt", [](int32_t x, int32_t y) { return x < y; }},
      {"sle", [](int32_t x, int32_t y) { return x <= y; }},
      {"sgt", [](int32_t x, int32_t y) { return x > y; }},
      {"sge", [](int32_t x, int32_t y) { return x >= y; }},
      {"ult", [](int32_t x, int32_t y) { return uint32_t(x) < uint32_t(y); }},
      {"ule", [](int32_t x, int32_t y) { return uint32_t(x) <= uint32_t(y); }},
      {"ugt", [](int32_t x, int32_t y) { return uint32_t(x) > uint32_t(y); }},
      {"uge", [](int32_t x, int32_t y) { return uint32_t(x) >= uint32_t(y); }}};
  for (auto &[predicate, expected] : cases) {
    std::vector<int8_t> r(a.size());
    std::string body =
        "%c = arith.cmpi " + std::string(predicate) + ", %x0, %x1 : " + block(a.size(), "i32") +
        "\n%r = arith.extui %c : " + block(a.size(), "i1") + " to " + block(a.size(), "i8");
    expectRuns(blockKernel(a.size(), {"i32", "i32"}, "i8", body), a, b, r);
    for (size_t k = 0; k < a.size(); ++k)
      ASSERT_EQ(r[k], expected(a[k], b[k])) << predicate << " " << a[k] << " " << b[k];
  }
}

TEST(Elementwise, BitCounts) {
  auto x = someInts<int32_t>();
  auto run = [&](const char *op) {
    std::vector<int32_t> r(x.size());
    expectRuns(blockKernel(x.size(), {"i32"}, "i32",
                           "%r = " + std::string(op) + " %x0 : " + block(x.size(), "i32")),
               x, r);
    return r;
  };
  auto ones = run("math.ctpop"), leading = run("math.ctlz"), trailing = run("math.cttz"),
       absolute = run("math.absi");
  for (size_t k = 0; k < x.size(); ++k) {
    int count = 0, first = 32, last = -1;
    for (int b = 0; b < 32; ++b)
      if (uint32_t(x[k]) >> b & 1) {
        ++count;
        first = std::min(first, b);
        last = b;
      }
    EXPECT_EQ(ones[k], count);
    EXPECT_EQ(leading[k], 31 - last);
    EXPECT_EQ(trailing[k], first);
    EXPECT_EQ(absolute[k], int32_t(x[k] < 0 ? 0u - uint32_t(x[k]) : uint32_t(x[k])));
  }
}

TEST(Elementwise, ExtendedProductsAndSums) {
  auto [a, b] = pairsOf(someInts<int64_t>());
  auto run = [&](const std::string &op, const char *which) {
    std::string T = block(a.size(), "i64");
    std::vector<int64_t> r(a.size());
    expectRuns(blockKernel(a.size(), {"i64", "i64"}, "i64",
                           "%l, %h = " + op + " %x0, %x1 : " + T +
                               "\n%z = arith.constant dense<0> : " + T + "\n%r = arith.ori %" +
                               which + ", %z : " + T),
               a, b, r);
    return r;
  };
  auto low = run("arith.mului_extended", "l"), high = run("arith.mului_extended", "h"),
       signedHigh = run("arith.mulsi_extended", "h");
  for (size_t k = 0; k < a.size(); ++k) {
    auto product = (unsigned __int128)(uint64_t(a[k])) * uint64_t(b[k]);
    ASSERT_EQ(uint64_t(low[k]), uint64_t(product));
    ASSERT_EQ(uint64_t(high[k]), uint64_t(product >> 64));
    ASSERT_EQ(signedHigh[k], int64_t((Wide(a[k]) * b[k]) >> 64));
  }
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

template <class T> std::vector<T> someFloats() {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {0,
                      T(1),
                      T(1.5),
                      T(2),
                      T(3),
                      T(0.1),
                      T(1e-3),
                      T(7.25),
                      T(1e10),
                      L::min(),
                      L::denorm_min(),
                      L::max(),
                      L::epsilon(),
                      L::infinity(),
                      T(1) + L::epsilon(),
                      T(16777216),
                      T(0.5)};
  for (size_t k = 0, n = v.size(); k < n; ++k)
    v.push_back(-v[k]);
  v.push_back(L::quiet_NaN());
  return v;
}

template <class T> bool sameFloat(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class T> struct FloatCase {
  const char *op;
  std::function<T(T, T)> expected;
};
/// Written out case by case, unlike the implementation.
template <class T> T referenceMax(T a, T b, bool propagate) {
  if (std::isnan(a) || std::isnan(b)) {
    if (propagate || (std::isnan(a) && std::isnan(b)))
      return std::numeric_limits<T>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == 0 && b == 0)
    return std::signbit(a) && std::signbit(b) ? T(-0.0) : T(0.0);
  return a < b ? b : a;
}
template <class T> T referenceMin(T a, T b, bool propagate) {
  return -referenceMax<T>(-a, -b, propagate);
}
template <class T> std::vector<FloatCase<T>> floatCases() {
  return {{"arith.addf", [](T a, T b) { return a + b; }},
          {"arith.subf", [](T a, T b) { return a - b; }},
          {"arith.mulf", [](T a, T b) { return a * b; }},
          {"arith.divf", [](T a, T b) { return a / b; }},
          {"tile.div_rn", [](T a, T b) { return a / b; }},
          {"arith.remf", [](T a, T b) { return std::fmod(a, b); }},
          {"arith.maximumf", [](T a, T b) { return referenceMax(a, b, true); }},
          {"arith.minimumf", [](T a, T b) { return referenceMin(a, b, true); }},
          {"arith.maxnumf", [](T a, T b) { return referenceMax(a, b, false); }},
          {"arith.minnumf", [](T a, T b) { return referenceMin(a, b, false); }},
          {"math.copysign", [](T a, T b) { return std::copysign(a, b); }}};
}
template <class T> void checkFloats(const char *type) {
  auto [a, b] = pairsOf(someFloats<T>());
  for (auto &c : floatCases<T>()) {
    auto r = binary<T>(c.op, type, type, a, b);
    for (size_t k = 0; k < a.size(); ++k)
      ASSERT_TRUE(sameFloat(r[k], c.expected(a[k], b[k])))
          << c.op << " " << a[k] << " " << b[k] << " gives " << r[k];
  }
}
TEST(Elementwise, SinglesAndDoubles) {
  checkFloats<float>("f32");
  checkFloats<double>("f64");
}

/// Narrow arithmetic is the exact result, rounded once.
TEST(Elementwise, NarrowFloatsRoundOnce) {
  for (const Format *f : {&halfFormat(), &bfloatFormat()}) {
    std::vector<uint16_t> values;
    auto largest = uint32_t(f->finite.size() - 1);
    for (uint32_t bits : {0u, 1u, 2u, 3u, largest, largest - 1, largest + 1, f->nan(),
                          1u << f->mantissaBits, (1u << f->mantissaBits) - 1})
      for (uint32_t sign : {0u, f->signBit()})
        values.push_back(uint16_t(bits | sign));
    for (uint32_t bits = 77; bits < largest; bits += largest / 40 + 1)
      values.push_back(uint16_t(bits | (bits & 1 ? f->signBit() : 0)));
    auto [a, b] = pairsOf(values);
    std::pair<const char *, std::function<Quad(Quad, Quad)>> cases[] = {
        {"arith.addf", [](Quad x, Quad y) { return x + y; }},
        {"arith.subf", [](Quad x, Quad y) { return x - y; }},
        {"arith.mulf", [](Quad x, Quad y) { return x * y; }},
        {"arith.divf", [](Quad x, Quad y) { return x / y; }}};
    for (auto &[op, expected] : cases) {
      auto r = binary<uint16_t>(op, f->name, f->name, a, b);
      for (size_t k = 0; k < a.size(); ++k) {
        Quad exact = expected(f->decode(a[k]), f->decode(b[k]));
        uint32_t bits = f->encode(exact);
        // The quad reference has no sign for an exact zero sum; compare values.
        bool bothZero = exact == 0 && f->decode(r[k]) == 0;
        ASSERT_TRUE(bothZero || f->same(r[k], bits))
            << f->name << " " << op << " " << f->decode(a[k]) << " " << f->decode(b[k]);
      }
    }
  }
}

TEST(Elementwise, FusedMultiplyAdd) {
  auto values = someFloats<float>();
  std::vector<float> a, b, c;
  for (float x : values)
    for (float y : values)
      for (float z : values) {
        a.push_back(x);
        b.push_back(y);
        c.push_back(z);
      }
  std::vector<float> r(a.size());
  std::string T = block(a.size(), "f32");
  expectRuns(
      blockKernel(a.size(), {"f32", "f32", "f32"}, "f32", "%r = math.fma %x0, %x1, %x2 : " + T), a,
      b, c, r);
  for (size_t k = 0; k < a.size(); ++k)
    ASSERT_TRUE(sameFloat(r[k], std::fmaf(a[k], b[k], c[k]))) << a[k] << " " << b[k] << " " << c[k];
}

/// The product falls half way between two values and the addend, far below
/// the precision of a double sum, decides.
TEST(Elementwise, NarrowFusedMultiplyAddSeesTinyAddends) {
  const Format &f = bfloatFormat();
  std::vector<uint16_t> a, b, c;
  for (int m = 1; m < 128; m += 2)
    for (double tail : {0x1p-70, -0x1p-70, 0x1p-90, -0x1p-90, 0.0}) {
      a.push_back(uint16_t(f.encode(1.0 + m / 128.0)));
      b.push_back(uint16_t(f.encode(1.5)));
      c.push_back(uint16_t(f.encode(tail)));
    }
  std::vector<uint16_t> r(a.size());
  expectRuns(blockKernel(a.size(), {"bf16", "bf16", "bf16"}, "bf16",
                         "%r = math.fma %x0, %x1, %x2 : " + block(a.size(), "bf16")),
             a, b, c, r);
  for (size_t k = 0; k < a.size(); ++k) {
    Quad exact = Quad(f.decode(a[k])) * f.decode(b[k]) + f.decode(c[k]);
    ASSERT_EQ(r[k], f.encode(exact)) << f.decode(a[k]) << " " << f.decode(c[k]);
  }
}

TEST(Elementwise, FloatComparisons) {
  auto [a, b] = pairsOf(someFloats<float>());
  const char *names[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                         "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};
  for (const char *name : names) {
    std::vector<int8_t> r(a.size());
    std::string body =
        "%c = arith.cmpf " + std::string(name) + ", %x0, %x1 : " + block(a.size(), "f32") +
        "\n%r = arith.extui %c : " + block(a.size(), "i1") + " to " + block(a.size(), "i8");
    expectRuns(blockKernel(a.size(), {"f32", "f32"}, "i8", body), a, b, r);
    std::string p = name;
    for (size_t k = 0; k < a.size(); ++k) {
      bool nan = std::isnan(a[k]) || std::isnan(b[k]);
      bool relation =
          p == "true" || (p.substr(1) == "eq" && a[k] == b[k]) ||
          (p.substr(1) == "gt" && a[k] > b[k]) || (p.substr(1) == "ge" && a[k] >= b[k]) ||
          (p.substr(1) == "lt" && a[k] < b[k]) || (p.substr(1) == "le" && a[k] <= b[k]) ||
          (p.substr(1) == "ne" && !nan && a[k] != b[k]) || (p == "ord" && !nan);
      bool expected = relation || (p[0] == 'u' && nan);
      ASSERT_EQ(r[k], expected) << name << " " << a[k] << " " << b[k];
    }
  }
}

TEST(Elementwise, SignsRoundingAndRoots) {
  std::vector<float> x = someFloats<float>();
  for (float v : {0.49999997f, 0.5f, 1.5f, 2.5f, -2.5f, -0.4f, 8388607.5f, 2147483648.0f})
    x.push_back(v);
  std::pair<const char *, std::function<float(float)>> cases[] = {
      {"arith.negf", [](float v) { return -v; }},
      {"math.absf", [](float v) { return std::fabs(v); }},
      {"math.ceil", [](float v) { return std::ceil(v); }},
      {"math.floor", [](float v) { return std::floor(v); }},
      {"math.trunc", [](float v) { return std::trunc(v); }},
      {"math.round", [](float v) { return std::round(v); }},
      {"math.roundeven", [](float v) { return std::rint(v); }},
      {"math.sqrt", [](float v) { return std::sqrt(v); }},
      {"tile.sqrt_rn", [](float v) { return std::sqrt(v); }}};
  for (auto &[op, expected] : cases) {
    std::vector<float> r(x.size());
    expectRuns(blockKernel(x.size(), {"f32"}, "f32",
                           "%r = " + std::string(op) + " %x0 : " + block(x.size(), "f32")),
               x, r);
    for (size_t k = 0; k < x.size(); ++k)
      EXPECT_TRUE(sameFloat(r[k], expected(x[k]))) << op << " " << x[k] << " gives " << r[k];
  }
}

/// Functions are the double result, rounded: at most half a unit off, up to
/// what the host's library is off itself. Long double is the reference.
TEST(Elementwise, MathFunctions) {
  std::vector<float> x;
  for (int i = 0; i < 49; ++i)
    x.push_back(-9.0f + 0.37f * float(i));
  for (float v : {0.0f, -0.0f, 1e-20f, 0.999f, 1.0f, 80.0f, 1e5f, INFINITY, -INFINITY, NAN})
    x.push_back(v);
  using LD = long double;
  std::pair<const char *, LD (*)(LD)> cases[] = {
      {"math.exp", std::exp},
      {"math.exp2", std::exp2},
      {"math.expm1", std::expm1},
      {"math.log", std::log},
      {"math.log2", std::log2},
      {"math.log10", std::log10},
      {"math.log1p", std::log1p},
      {"math.sin", std::sin},
      {"math.cos", std::cos},
      {"math.tan", std::tan},
      {"math.tanh", std::tanh},
      {"math.sinh", std::sinh},
      {"math.cosh", std::cosh},
      {"math.asin", std::asin},
      {"math.acos", std::acos},
      {"math.atan", std::atan},
      {"math.asinh", std::asinh},
      {"math.acosh", std::acosh},
      {"math.atanh", std::atanh},
      {"math.erf", std::erf},
      {"math.erfc", std::erfc},
      {"math.cbrt", std::cbrt},
      {"math.rsqrt", [](LD v) { return 1 / std::sqrt(v); }}};
  for (auto &[op, function] : cases) {
    std::vector<float> r(x.size());
    expectRuns(blockKernel(x.size(), {"f32"}, "f32",
                           "%r = " + std::string(op) + " %x0 : " + block(x.size(), "f32")),
               x, r);
    for (size_t k = 0; k < x.size(); ++k) {
      auto expected = float(function(x[k]));
      EXPECT_TRUE(sameFloat(r[k], expected))
          << op << " " << x[k] << " gives " << r[k] << ", expected " << expected;
    }
    // The same in half precision, rounded once.
    std::vector<uint16_t> h, rh(x.size());
    for (float v : x)
      h.push_back(uint16_t(halfFormat().encode(v)));
    expectRuns(blockKernel(x.size(), {"f16"}, "f16",
                           "%r = " + std::string(op) + " %x0 : " + block(x.size(), "f16")),
               h, rh);
    for (size_t k = 0; k < x.size(); ++k)
      EXPECT_TRUE(
          halfFormat().same(rh[k], halfFormat().encode(function(LD(halfFormat().decode(h[k]))))))
          << op << " half " << halfFormat().decode(h[k]);
  }
}

TEST(Elementwise, TwoOperandMathFunctions) {
  auto [a, b] =
      pairsOf(std::vector<float>{0.0f, -0.0f, 1.0f, -1.0f, 2.5f, -3.0f, 7.0f, INFINITY, NAN, 0.1f});
  auto power = binary<float>("math.powf", "f32", "f32", a, b);
  auto angle = binary<float>("math.atan2", "f32", "f32", a, b);
  for (size_t k = 0; k < a.size(); ++k) {
    EXPECT_TRUE(sameFloat(power[k], float(std::pow((long double)a[k], (long double)b[k]))));
    EXPECT_TRUE(sameFloat(angle[k], float(std::atan2((long double)a[k], (long double)b[k]))));
  }
}

TEST(Elementwise, Clamp) {
  std::vector<float> x = {-5, -1, -0.0f, 0.5f, 1, 9, INFINITY, -INFINITY, NAN};
  std::string body = R"(
    %lo = arith.constant dense<-1.0> : tensor<9xf32>
    %hi = arith.constant dense<1.0> : tensor<9xf32>
    %r = tile.clamp %x0, %lo, %hi FLAG : tensor<9xf32>)";
  std::vector<float> r(9);
  expectRuns(blockKernel(9, {"f32"}, "f32", replace(body, "FLAG", "")), x, r);
  std::vector<float> expected = {-1, -1, -0.0f, 0.5f, 1, 1, 1, -1, -1};
  for (size_t k = 0; k < 9; ++k)
    EXPECT_TRUE(sameFloat(r[k], expected[k])) << k;
  expectRuns(blockKernel(9, {"f32"}, "f32", replace(body, "FLAG", "propagate_nan")), x, r);
  EXPECT_TRUE(std::isnan(r[8]));
}

TEST(Elementwise, Select) {
  std::vector<int8_t> c = {0, 1, 1, 0, 1};
  std::vector<float> a = {1, 2, 3, 4, 5}, b = {-1, -2, -3, -4, -5}, r(5);
  expectRuns(blockKernel(5, {"i8", "f32", "f32"}, "f32", R"(
    %m = arith.trunci %x0 : tensor<5xi8> to tensor<5xi1>
    %s = arith.select %m, %x1, %x2 : tensor<5xi1>, tensor<5xf32>
    %false = arith.constant false
    %r = arith.select %false, %x1, %s : tensor<5xf32>)"),
             c, a, b, r);
  EXPECT_EQ(r, (std::vector<float>{-1, 2, 3, -4, 5}));
}

} // namespace
