//===- ConvertTest.cpp - narrow float formats -----------------------------===//
//
// Against LLVM's arbitrary floats, at every bit pattern of the narrow formats,
// every midpoint between neighbours and the f32 next to each.
//
//===----------------------------------------------------------------------===//
#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using llvm::APFloat;

extern "C" {
unsigned char __tile_f32_to_e4m3fn(float), __tile_f32_to_e5m2(float);
float __tile_e4m3fn_to_f32(unsigned char), __tile_e5m2_to_f32(unsigned char);
unsigned short __tile_f32_to_bf16_rn(float), __tile_f32_to_bf16_rz(float);
float __tile_bf16_to_f32(unsigned short);
}

static float decode(const llvm::fltSemantics &semantics, unsigned width, uint64_t code) {
  APFloat value(semantics, llvm::APInt(width, code));
  bool lost;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToFloat();
}

static uint64_t encode(const llvm::fltSemantics &semantics, float x, APFloat::roundingMode mode) {
  APFloat value(x);
  bool lost;
  value.convert(semantics, mode, &lost);
  return value.bitcastToAPInt().getZExtValue();
}

/// Checks encode(decode(code)) and rounding at and around the midpoint above
/// every finite code; the largest code's midpoint and beyond saturate.
template <typename Encode, typename Decode>
static void checkByteFormat(const llvm::fltSemantics &semantics, unsigned char largest,
                            Encode toByte, Decode toFloat) {
  for (unsigned code = 0; code < 256; ++code) {
    const float exact = decode(semantics, 8, code), got = toFloat(code);
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(got)) << code;
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(exact)) << code;
    const unsigned magnitude = code & 0x7f;
    if (magnitude > largest)
      continue;
    EXPECT_EQ(toByte(exact), code);
    if (magnitude == largest)
      continue;
    const float middle = (exact + decode(semantics, 8, code + 1)) / 2;
    for (float x : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 2 * middle)})
      EXPECT_EQ(toByte(x), encode(semantics, x, APFloat::rmNearestTiesToEven)) << x;
  }
  const float top = decode(semantics, 8, largest);
  for (float x : {std::nextafter(top, INFINITY), top * 2, 1e38f, INFINITY}) {
    EXPECT_EQ(toByte(x), largest) << x;
    EXPECT_EQ(toByte(-x), largest | 0x80) << x;
  }
  EXPECT_EQ(toByte(NAN) & 0x7f, 0x7f);
  EXPECT_EQ(toByte(0x1p-149f), 0);
  EXPECT_EQ(toByte(-0x1p-149f), 0x80);
}

TEST(Convert, E4m3fn) {
  checkByteFormat(APFloat::Float8E4M3FN(), 0x7e, __tile_f32_to_e4m3fn, __tile_e4m3fn_to_f32);
}

TEST(Convert, E5m2) {
  checkByteFormat(APFloat::Float8E5M2(), 0x7b, __tile_f32_to_e5m2, __tile_e5m2_to_f32);
}

TEST(Convert, Bfloat16) {
  for (uint64_t pattern = 0; pattern < (1ull << 32); pattern += 997) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(pattern));
    const unsigned short nearest = __tile_f32_to_bf16_rn(x), down = __tile_f32_to_bf16_rz(x);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(__tile_bf16_to_f32(nearest)));
      EXPECT_TRUE(std::isnan(__tile_bf16_to_f32(down)));
      continue;
    }
    ASSERT_EQ(nearest, encode(APFloat::BFloat(), x, APFloat::rmNearestTiesToEven)) << x;
    ASSERT_EQ(down, encode(APFloat::BFloat(), x, APFloat::rmTowardZero)) << x;
  }
}
