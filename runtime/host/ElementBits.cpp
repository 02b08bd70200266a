//===- ElementBits.cpp - bits of an element to numbers and back ---------------===//
#include "runtime/host/ElementBits.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tile;
using namespace tile::host;
using Kind = DType::Kind;

namespace {
/// What the all-ones exponent means.
enum class Top {
  Ieee,    ///< infinities and NaNs
  NanOnly, ///< numbers, but all ones is NaN
  Numbers, ///< numbers only
  NegZero, ///< numbers; the pattern of -0 is the only NaN
};
struct Format {
  int exponentBits, mantissaBits, bias;
  Top top;
  double largest;
};
} // namespace

static Format formatOf(Kind kind) {
  switch (kind) {
  case Kind::Float8E5:
    return {5, 2, 15, Top::Ieee, 57344};
  case Kind::Float8E4NV:
    return {4, 3, 7, Top::NanOnly, 448};
  case Kind::Float8E4B15:
    return {4, 3, 15, Top::Numbers, 1.75};
  case Kind::Float8E4B8:
    return {4, 3, 8, Top::NegZero, 240};
  case Kind::Float8E5B16:
    return {5, 2, 16, Top::NegZero, 57344};
  case Kind::Float16:
    return {5, 10, 15, Top::Ieee, 65504};
  case Kind::BFloat16:
    return {8, 7, 127, Top::Ieee, 0x1.fep127};
  case Kind::Float32:
    return {8, 23, 127, Top::Ieee, std::numeric_limits<float>::max()};
  default:
    return {11, 52, 1023, Top::Ieee, std::numeric_limits<double>::max()};
  }
}

static bool isNarrowFloat(Kind kind) { return kind >= Kind::Float8E5 && kind <= Kind::Float8E5B16; }

namespace tile::host {

double decodeFloat(Kind kind, uint64_t bits) {
  if (kind == Kind::Float64)
    return std::bit_cast<double>(bits);
  if (kind == Kind::Float32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  Format f = formatOf(kind);
  int64_t mantissa = bits & ((1 << f.mantissaBits) - 1);
  int exponent = (bits >> f.mantissaBits) & ((1 << f.exponentBits) - 1);
  bool negative = bits >> (f.mantissaBits + f.exponentBits) & 1;
  bool allOnes = exponent == (1 << f.exponentBits) - 1;
  bool mantissaOnes = mantissa == (1 << f.mantissaBits) - 1;
  double nan = std::numeric_limits<double>::quiet_NaN();
  if (f.top == Top::Ieee && allOnes)
    return mantissa ? nan : negative ? -HUGE_VAL : HUGE_VAL;
  if (f.top == Top::NanOnly && allOnes && mantissaOnes)
    return nan;
  if (f.top == Top::NegZero && negative && exponent == 0 && mantissa == 0)
    return nan;
  int scale = (exponent ? exponent : 1) - f.bias - f.mantissaBits;
  double value = std::ldexp(double(exponent ? mantissa + (1 << f.mantissaBits) : mantissa), scale);
  return negative ? -value : value;
}

static uint64_t nanBits(const Format &f) {
  uint64_t ones = (uint64_t(1) << f.exponentBits) - 1;
  switch (f.top) {
  case Top::Ieee:
    return ones << f.mantissaBits | uint64_t(1) << (f.mantissaBits - 1);
  case Top::NegZero:
    return uint64_t(1) << (f.exponentBits + f.mantissaBits);
  default:
    return (uint64_t(1) << (f.exponentBits + f.mantissaBits)) - 1;
  }
}

uint64_t encodeFloat(Kind kind, double value) {
  if (kind == Kind::Float64)
    return std::bit_cast<uint64_t>(value);
  if (kind == Kind::Float32)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  Format f = formatOf(kind);
  if (std::isnan(value))
    return nanBits(f);
  uint64_t sign = uint64_t(std::signbit(value)) << (f.exponentBits + f.mantissaBits);
  double magnitude = std::fabs(value);
  int exponent = magnitude == 0 || std::isinf(magnitude) ? 0 : std::ilogb(magnitude);
  exponent = std::max(exponent, 1 - f.bias);
  // The spacing of the format around the value; powers of two divide exactly.
  double spacing = std::ldexp(1.0, exponent - f.mantissaBits);
  double rounded = std::nearbyint(magnitude / spacing) * spacing;
  if (rounded > f.largest) {
    if (!isNarrowFloat(kind)) // infinity
      return sign | ((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits;
    rounded = f.largest;
  }
  if (rounded == 0)
    return f.top == Top::NegZero ? 0 : sign;
  exponent = std::max(std::ilogb(rounded), 1 - f.bias);
  uint64_t steps = static_cast<uint64_t>(std::ldexp(rounded, f.mantissaBits - exponent));
  // A subnormal has no hidden bit: its exponent field comes out as zero.
  return sign | ((uint64_t(exponent + f.bias - 1) << f.mantissaBits) + steps);
}

double largestFinite(Kind kind) { return formatOf(kind).largest; }

double smallestPositive(Kind kind) {
  Format f = formatOf(kind);
  return std::ldexp(1.0, 1 - f.bias - f.mantissaBits);
}

bool hasInfinity(Kind kind) { return formatOf(kind).top == Top::Ieee; }

int64_t decodeInt(const DType &type, uint64_t bits) {
  if (type.isBool())
    return bits != 0;
  unsigned unused = 64 - type.bitWidth();
  return type.isSigned() ? int64_t(bits << unused) >> unused : int64_t(bits << unused >> unused);
}

uint64_t encodeInt(const DType &type, int64_t value) {
  return type.isBool() ? value != 0 : uint64_t(value);
}

int64_t floatToInt(const DType &type, double value) {
  if (type.isBool()) // a NaN is not 0
    return value != 0;
  if (std::isnan(value))
    return 0;
  int bits = type.bitWidth() - type.isSigned();
  double limit = std::ldexp(1.0, bits);
  value = std::trunc(value);
  if (value >= limit)
    return bits == 64 ? -1 : int64_t((uint64_t(1) << bits) - 1);
  double lowest = type.isSigned() ? -limit : 0;
  if (value < lowest)
    return type.isSigned() ? -int64_t((uint64_t(1) << bits) - 1) - 1 : 0;
  return bits == 64 ? int64_t(uint64_t(value)) : int64_t(value);
}

uint64_t loadBits(const uint8_t *from, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

void storeBits(uint8_t *to, uint64_t bits, unsigned bytes) { std::memcpy(to, &bits, bytes); }

} // namespace tile::host
