//===- ElementBitsTest.cpp - element formats against LLVM's own ---------------===//
#include "runtime/host/ElementBits.h"
#include "runtime/host/Random.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>

using namespace tile::host;
using llvm::APFloat;
using Kind = DType::Kind;

namespace {

struct Format {
  Kind kind;
  const llvm::fltSemantics &semantics;
  unsigned bits;
};
const Format formats[] = {
    {Kind::Float16, APFloat::IEEEhalf(), 16},
    {Kind::BFloat16, APFloat::BFloat(), 16},
    {Kind::Float8E5, APFloat::Float8E5M2(), 8},
    {Kind::Float8E4NV, APFloat::Float8E4M3FN(), 8},
    {Kind::Float8E4B8, APFloat::Float8E4M3FNUZ(), 8},
    {Kind::Float8E5B16, APFloat::Float8E5M2FNUZ(), 8},
};

double viaApFloat(const Format &format, uint64_t bits) {
  APFloat value(format.semantics, llvm::APInt(format.bits, bits));
  bool lost;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

TEST(Element, EveryPatternDecodesExactlyAndEncodesBack) {
  for (const Format &format : formats)
    for (uint64_t bits = 0; bits < uint64_t(1) << format.bits; ++bits) {
      double expected = viaApFloat(format, bits), got = decodeFloat(format.kind, bits);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << DType(format.kind).str() << " " << bits;
        ASSERT_TRUE(std::isnan(decodeFloat(format.kind, encodeFloat(format.kind, got))));
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(expected))
          << DType(format.kind).str() << " " << bits;
      if (std::isfinite(got) || format.bits == 16)
        ASSERT_EQ(encodeFloat(format.kind, got), bits) << DType(format.kind).str();
    }
}

TEST(Element, RoundingAgreesWithApFloat) {
  for (const Format &format : formats) {
    double largest = largestFinite(format.kind), smallest = smallestPositive(format.kind);
    for (int i = 0; i < 20000; ++i) {
      double low = std::log2(smallest) - 2, high = std::log2(largest);
      double scale = std::exp2(low + (high - low) * randomUniform(1, i));
      double value = (i & 1 ? 1 : -1) * scale;
      if (i % 4 == 0) // halfway between two neighbours
        value = decodeFloat(format.kind, encodeFloat(format.kind, value)) + smallest / 2;
      if (std::fabs(value) > largest)
        continue;
      APFloat expected(value);
      bool lost;
      expected.convert(format.semantics, APFloat::rmNearestTiesToEven, &lost);
      ASSERT_EQ(encodeFloat(format.kind, value), expected.bitcastToAPInt().getZExtValue())
          << DType(format.kind).str() << " " << value;
    }
  }
}

TEST(Element, OverflowSaturatesOnlyEightBitFormats) {
  EXPECT_EQ(decodeFloat(Kind::Float16, encodeFloat(Kind::Float16, 65519)), 65504);
  EXPECT_EQ(decodeFloat(Kind::Float16, encodeFloat(Kind::Float16, 65520)), HUGE_VAL);
  EXPECT_EQ(decodeFloat(Kind::Float8E4NV, encodeFloat(Kind::Float8E4NV, -1e9)), -448);
  EXPECT_EQ(decodeFloat(Kind::Float8E5, encodeFloat(Kind::Float8E5, HUGE_VAL)), 57344);
  EXPECT_EQ(decodeFloat(Kind::Float8E4B15, encodeFloat(Kind::Float8E4B15, 5)), 1.75);
}

TEST(Element, IntegersWrapAndFloatsSaturate) {
  EXPECT_EQ(decodeInt(Kind::Int8, 0x80), -128);
  EXPECT_EQ(decodeInt(Kind::UInt8, 0x80), 128);
  EXPECT_EQ(decodeInt(Kind::Int1, 7), 1);
  EXPECT_EQ(floatToInt(Kind::Int8, 300), 127);
  EXPECT_EQ(floatToInt(Kind::Int8, -300.7), -128);
  EXPECT_EQ(floatToInt(Kind::UInt8, -5), 0);
  EXPECT_EQ(floatToInt(Kind::Int32, 2.9), 2);
  EXPECT_EQ(floatToInt(Kind::Int64, 1e30), INT64_MAX);
  EXPECT_EQ(floatToInt(Kind::Int64, -1e30), INT64_MIN);
  EXPECT_EQ(uint64_t(floatToInt(Kind::UInt64, 1e30)), UINT64_MAX);
  EXPECT_EQ(floatToInt(Kind::Int16, std::nan("")), 0);
}

} // namespace
