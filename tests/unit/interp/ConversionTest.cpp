//===- ConversionTest.cpp - casts, exhaustively where possible ------------===//
#include "InterpTest.h"
#include "Reference.h"
#include <random>

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

/// Runs `%r = <op>` from a block of In to a block of Out; IN and OUT in `op`
/// stand for the block types.
template <class Out, class In>
std::vector<Out> convert(const std::vector<In> &in, const std::string &from, const std::string &to,
                         std::string op) {
  std::vector<In> x = in;
  std::vector<Out> r(in.size());
  op = replace(replace(op, "OUT", block(in.size(), to)), "IN", block(in.size(), from));
  expectRuns(blockKernel(in.size(), {from}, to, "%r = " + op), x, r);
  return r;
}

/// All bit patterns of a narrow format, as the storage type.
template <class T> std::vector<T> allBits(const Format &f) {
  std::vector<T> bits(size_t(1) << f.width());
  for (size_t k = 0; k < bits.size(); ++k)
    bits[k] = T(k);
  return bits;
}

template <class F> void withStorage(const Format &f, F body) {
  if (f.width() == 8)
    body(uint8_t());
  else
    body(uint16_t());
}

TEST(Conversion, NarrowToWideIsExact) {
  for (const Format *f : allFormats())
    withStorage(*f, [&](auto storage) {
      auto bits = allBits<decltype(storage)>(*f);
      for (const char *op : {"arith.extf %x0 : IN to OUT", "tile.fp_cast %x0 rtne : IN -> OUT"}) {
        auto single = convert<float>(bits, f->name, "f32", op);
        auto wide = convert<double>(bits, f->name, "f64", op);
        for (size_t k = 0; k < bits.size(); ++k) {
          double expected = f->decode(uint32_t(k));
          ASSERT_TRUE(std::isnan(expected) ? std::isnan(single[k]) : single[k] == expected) << k;
          ASSERT_TRUE(std::isnan(expected) ? std::isnan(wide[k]) : wide[k] == expected) << k;
          ASSERT_EQ(std::signbit(single[k]), std::signbit(expected)) << k;
        }
      }
    });
}

template <class From> void checkNarrowing(const char *from) {
  for (const Format *f : allFormats()) {
    std::vector<From> x;
    for (double v : f->interesting())
      x.push_back(From(v));
    std::mt19937_64 random(3);
    for (int k = 0; k < 5000; ++k) // any bit pattern at all
      x.push_back(
          std::bit_cast<From>(std::conditional_t<sizeof(From) == 4, uint32_t, uint64_t>(random())));
    withStorage(*f, [&](auto storage) {
      using T = decltype(storage);
      bool narrow = f->width() == 8;
      auto check = [&](const char *op, Format::Mode mode, bool saturate) {
        auto r = convert<T>(x, from, f->name, op);
        for (size_t k = 0; k < x.size(); ++k) {
          uint32_t expected = f->encode(x[k], mode, saturate);
          ASSERT_TRUE(f->same(r[k], expected))
              << f->name << " " << op << " of " << double(x[k]) << ": " << unsigned(r[k])
              << ", expected " << expected;
        }
      };
      check("tile.fp_cast %x0 rtne : IN -> OUT", Format::Even, narrow);
      check("tile.fp_cast %x0 rtz : IN -> OUT", Format::Zero, false);
      check("arith.truncf %x0 : IN to OUT", Format::Even, false);
      check("arith.truncf %x0 toward_zero : IN to OUT", Format::Zero, false);
    });
  }
}
TEST(Conversion, SingleToNarrow) { checkNarrowing<float>("f32"); }
TEST(Conversion, DoubleToNarrowRoundsOnce) { checkNarrowing<double>("f64"); }

TEST(Conversion, BetweenNarrowFormats) {
  for (const Format *from : allFormats())
    for (const Format *to : allFormats())
      if (from->width() != to->width())
        withStorage(*from, [&](auto source) {
          withStorage(*to, [&](auto target) {
            auto bits = allBits<decltype(source)>(*from);
            auto r = convert<decltype(target)>(bits, from->name, to->name,
                                               "tile.fp_cast %x0 rtne : IN -> OUT");
            for (size_t k = 0; k < bits.size(); ++k) {
              double v = from->decode(uint32_t(k));
              ASSERT_TRUE(to->same(r[k], to->encode(v, Format::Even, to->width() == 8)))
                  << from->name << " to " << to->name << " of " << v;
            }
          });
        });
}

TEST(Conversion, DoubleToSingleInEveryMode) {
  std::vector<double> x = {
      0.0,    -0.0,     1.0,        1.0 + 0x1p-24, 1.0 + 0x1.8p-24, 1.0 - 0x1p-26, 1e39, -1e39,
      3.5e38, 0x1p-150, 0x1.8p-150, -0x1p-160,     INFINITY,        -INFINITY,     NAN,  1e-320};
  auto even = convert<float>(x, "f64", "f32", "arith.truncf %x0 : IN to OUT");
  auto zero = convert<float>(x, "f64", "f32", "arith.truncf %x0 toward_zero : IN to OUT");
  auto up = convert<float>(x, "f64", "f32", "arith.truncf %x0 upward : IN to OUT");
  auto down = convert<float>(x, "f64", "f32", "arith.truncf %x0 downward : IN to OUT");
  for (size_t k = 0; k < x.size(); ++k) {
    volatile double v = x[k];
    float nearest = float(v);
    if (std::isnan(v)) {
      EXPECT_TRUE(std::isnan(even[k]) && std::isnan(zero[k]) && std::isnan(up[k]));
      continue;
    }
    EXPECT_EQ(std::bit_cast<uint32_t>(even[k]), std::bit_cast<uint32_t>(nearest)) << v;
    EXPECT_LE(double(down[k]), v);
    EXPECT_GE(double(up[k]), v);
    EXPECT_LE(std::fabs(double(zero[k])), std::fabs(v));
    if (double(nearest) == v) {
      EXPECT_EQ(down[k], nearest);
      EXPECT_EQ(up[k], nearest);
    } else {
      EXPECT_EQ(std::nextafter(down[k], INFINITY), up[k]) << v;
      EXPECT_EQ(zero[k], v > 0 ? down[k] : up[k]) << v;
    }
  }
}

template <class I> std::vector<I> awkwardInts() {
  std::vector<I> x = {0,
                      1,
                      2,
                      3,
                      7,
                      100,
                      I(-1),
                      I(-2),
                      I(-100),
                      std::numeric_limits<I>::min(),
                      std::numeric_limits<I>::max(),
                      I(std::numeric_limits<I>::max() - 1)};
  for (unsigned k = 0; k < 8 * sizeof(I); ++k)
    for (int d : {-1, 0, 1})
      x.push_back(I((uint64_t(1) << k) + uint64_t(d)));
  std::mt19937_64 random(1);
  for (int k = 0; k < 200; ++k)
    x.push_back(I(random() >> (random() % 60)));
  return x;
}

template <class I> void checkIntToFloat(const char *name) {
  using U = std::make_unsigned_t<I>;
  auto x = awkwardInts<I>();
  for (bool isSigned : {true, false}) {
    std::string op = isSigned ? "arith.sitofp %x0 : IN to OUT" : "arith.uitofp %x0 : IN to OUT";
    auto value = [&](I v) { return isSigned ? Quad(v) : Quad(U(v)); };
    auto single = convert<float>(x, name, "f32", op);
    auto wide = convert<double>(x, name, "f64", op);
    for (size_t k = 0; k < x.size(); ++k) {
      ASSERT_EQ(single[k], float(value(x[k])));
      ASSERT_EQ(wide[k], double(value(x[k])));
    }
    for (const Format *f : {&halfFormat(), &bfloatFormat()}) {
      auto narrow = convert<uint16_t>(x, name, f->name, op);
      for (size_t k = 0; k < x.size(); ++k)
        ASSERT_EQ(narrow[k], f->encode(value(x[k]))) << f->name << " of " << int64_t(x[k]);
    }
  }
}
TEST(Conversion, IntToFloatRoundsOnce) {
  checkIntToFloat<int8_t>("i8");
  checkIntToFloat<int16_t>("i16");
  checkIntToFloat<int32_t>("i32");
  checkIntToFloat<int64_t>("i64");
}

template <class I> void checkFloatToInt(const char *name) {
  using U = std::make_unsigned_t<I>;
  std::vector<double> x = {0.0,  -0.0, 0.5,  0.99999, 1.0,      1.5,       -0.5, -0.99999,
                           -1.0, -1.5, 1e30, -1e30,   INFINITY, -INFINITY, NAN,  5e-324};
  for (int k = 1; k <= 64; ++k)
    for (double v : {std::ldexp(1.0, k), std::nextafter(std::ldexp(1.0, k), 0.0),
                     std::ldexp(1.0, k) - 1, std::ldexp(1.0, k) + 1})
      x.insert(x.end(), {v, -v});
  // 8 bits are the lower half of 16; NaN is the highest bit where anything has 64 bits.
  constexpr unsigned bits = std::max<unsigned>(16, 8 * sizeof(I));
  auto expected = [](double v, bool isSigned, bool isWide) {
    auto lowest = [](Quad q) { return U(q < 0 ? uint64_t(int64_t(q)) : uint64_t(q)); };
    Quad high = Quad(std::ldexp(1.0, int(isSigned ? bits - 1 : bits))) - 1;
    Quad low = isSigned ? -high - 1 : Quad(0);
    if (std::isnan(v))
      return lowest(isWide || bits == 64 ? Quad(std::ldexp(1.0, int(bits) - 1)) : Quad(0));
    Quad t = std::isinf(v) ? (v > 0 ? high : low) : Quad(std::trunc(v));
    return lowest(t < low ? low : t > high ? high : t);
  };
  auto asSigned = convert<I>(x, "f64", name, "arith.fptosi %x0 : IN to OUT");
  auto asUnsigned = convert<U>(x, "f64", name, "arith.fptoui %x0 : IN to OUT");
  std::vector<float> singles(x.begin(), x.end());
  auto fromSingle = convert<I>(singles, "f32", name, "arith.fptosi %x0 : IN to OUT");
  for (size_t k = 0; k < x.size(); ++k) {
    EXPECT_EQ(U(asSigned[k]), expected(x[k], true, true)) << x[k];
    EXPECT_EQ(U(fromSingle[k]), expected(singles[k], true, false)) << x[k];
    EXPECT_EQ(asUnsigned[k], expected(x[k], false, true)) << x[k];
  }
}
TEST(Conversion, FloatToIntSaturates) {
  checkFloatToInt<int8_t>("i8");
  checkFloatToInt<int16_t>("i16");
  checkFloatToInt<int32_t>("i32");
  checkFloatToInt<int64_t>("i64");
}

TEST(Conversion, IntWidths) {
  auto x = awkwardInts<int64_t>();
  auto low = convert<int8_t>(x, "i64", "i8", "arith.trunci %x0 : IN to OUT");
  auto mid = convert<int32_t>(x, "i64", "i32", "arith.trunci %x0 : IN to OUT");
  auto sign = convert<int64_t>(low, "i8", "i64", "arith.extsi %x0 : IN to OUT");
  auto zero = convert<uint64_t>(low, "i8", "i64", "arith.extui %x0 : IN to OUT");
  for (size_t k = 0; k < x.size(); ++k) {
    EXPECT_EQ(low[k], int8_t(x[k]));
    EXPECT_EQ(mid[k], int32_t(x[k]));
    EXPECT_EQ(sign[k], int64_t(int8_t(x[k])));
    EXPECT_EQ(zero[k], uint64_t(uint8_t(x[k])));
  }
}

/// i1 true is -1 as a signed and 1 as an unsigned value.
TEST(Conversion, Booleans) {
  std::vector<int32_t> x = {0, 1, -1, 2, 3};
  std::string body = R"(
    %b = arith.trunci %x0 : tensor<5xi32> to tensor<5xi1>
    %s = arith.extsi %b : tensor<5xi1> to tensor<5xi32>
    %u = arith.extui %b : tensor<5xi1> to tensor<5xi32>
    %f = arith.uitofp %b : tensor<5xi1> to tensor<5xf32>
    %g = arith.sitofp %b : tensor<5xi1> to tensor<5xf32>
    %h = arith.addf %f, %g : tensor<5xf32>
    %i = arith.fptosi %h : tensor<5xf32> to tensor<5xi32>
    %c100 = arith.constant dense<100> : tensor<5xi32>
    %c10 = arith.constant dense<10> : tensor<5xi32>
    %s1 = arith.muli %s, %c100 : tensor<5xi32>
    %u1 = arith.muli %u, %c10 : tensor<5xi32>
    %t = arith.addi %s1, %u1 : tensor<5xi32>
    %r = arith.addi %t, %i : tensor<5xi32>)";
  std::vector<int32_t> r(5);
  expectRuns(blockKernel(5, {"i32"}, "i32", body), x, r);
  EXPECT_EQ(r, (std::vector<int32_t>{0, -90, -90, 0, -90}));
}

TEST(Conversion, BitcastKeepsTheBits) {
  std::vector<uint32_t> x = {0, 0x80000000u, 0x7fc00001u, 0x7f800001u, 0xffffffffu, 1};
  auto r = convert<uint32_t>(x, "f32", "i32", "arith.bitcast %x0 : IN to OUT");
  EXPECT_EQ(r, x);
}

} // namespace
