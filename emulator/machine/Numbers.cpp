//===- Numbers.cpp - the machine's number formats -------------------------===//
#include "emulator/machine/Numbers.h"
#include <cmath>
#include <limits>
#include <vector>

using namespace tile::emu;

namespace {
struct Layout {
  unsigned bits, mantissa;
  int bias;
  bool hasInfinity; ///< E4M3 has none, and one NaN
};
} // namespace

static Layout layoutOf(Format f) {
  switch (f) {
  case Format::F16:
    return {16, 10, 15, true};
  case Format::BF16:
    return {16, 7, 127, true};
  case Format::E4M3:
    return {8, 3, 7, false};
  case Format::E5M2:
    return {8, 2, 15, true};
  case Format::TF32: // kept in 32 bits, the low 13 of them zero
    return {19, 10, 127, true};
  case Format::F64:
    return {64, 52, 1023, true};
  default:
    return {32, 23, 127, true};
  }
}

unsigned tile::emu::bitWidth(Format f) {
  switch (f) {
  case Format::TF32:
  case Format::S32:
  case Format::U32:
    return 32;
  case Format::S8:
  case Format::U8:
    return 8;
  case Format::S16:
  case Format::U16:
    return 16;
  case Format::S64:
  case Format::U64:
    return 64;
  default:
    return layoutOf(f).bits;
  }
}

double tile::emu::decode(Format format, uint64_t bits) {
  if (format == Format::F64)
    return llvm::bit_cast<double>(bits);
  if (format == Format::F32)
    return double(llvm::bit_cast<float>(uint32_t(bits)));
  if (format == Format::TF32)
    return double(llvm::bit_cast<float>(uint32_t(bits) & 0xffffe000u));
  Layout l = layoutOf(format);
  unsigned exponentBits = l.bits - 1 - l.mantissa;
  uint64_t mantissa = bits & ((uint64_t(1) << l.mantissa) - 1);
  int exponent = int(bits >> l.mantissa & ((1u << exponentBits) - 1));
  int top = (1 << exponentBits) - 1;
  double sign = bits >> (l.bits - 1) & 1 ? -1.0 : 1.0;
  if (exponent == top && l.hasInfinity)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == top && !l.hasInfinity && mantissa == (uint64_t(1) << l.mantissa) - 1)
    return std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), 1 - l.bias - int(l.mantissa));
  return sign * std::ldexp(double(mantissa | uint64_t(1) << l.mantissa),
                           exponent - l.bias - int(l.mantissa));
}

static double roundInteger(double magnitude, Rounding rounding, bool negative) {
  double down = std::floor(magnitude), rest = magnitude - down;
  bool up = false;
  switch (rounding) {
  case Rounding::NearestEven:
    up = rest > 0.5 || (rest == 0.5 && std::fmod(down, 2.0) != 0);
    break;
  case Rounding::NearestAway:
    up = rest >= 0.5;
    break;
  case Rounding::TowardZero:
    break;
  case Rounding::Down:
    up = negative && rest != 0;
    break;
  case Rounding::Up:
    up = !negative && rest != 0;
    break;
  }
  return down + up;
}

uint64_t tile::emu::encode(Format format, double value, Rounding rounding, bool finite) {
  if (format == Format::F64)
    return llvm::bit_cast<uint64_t>(value);
  if (format == Format::F32 && rounding == Rounding::NearestEven && !finite)
    return llvm::bit_cast<uint32_t>(float(value));
  Layout l = layoutOf(format);
  unsigned exponentBits = l.bits - 1 - l.mantissa;
  uint64_t top = (uint64_t(1) << exponentBits) - 1;
  uint64_t infinity = top << l.mantissa;
  uint64_t nan = l.hasInfinity ? infinity | (uint64_t(1) << (l.mantissa - 1))
                               : infinity | ((uint64_t(1) << l.mantissa) - 1);
  if (l.bits == 16 || l.bits == 32)
    nan = infinity | ((uint64_t(1) << l.mantissa) - 1); // the canonical NaN
  if (l.bits == 8)
    nan = 0x7f;
  uint64_t largest = l.hasInfinity ? infinity - 1 : nan - 1;
  uint64_t bits;
  bool negative = std::signbit(value);
  if (std::isnan(value)) {
    bits = nan, negative = false;
  } else if (std::isinf(value)) {
    bits = finite ? largest : l.hasInfinity ? infinity : nan;
  } else {
    double magnitude = std::fabs(value);
    int exponent = 0;
    std::frexp(magnitude, &exponent); // magnitude in [2^(exponent-1), 2^exponent)
    int lowest = 1 - l.bias - int(l.mantissa);
    int unit = magnitude == 0 ? lowest : std::max(exponent - 1 - int(l.mantissa), lowest);
    double m = roundInteger(std::ldexp(magnitude, -unit), rounding, negative);
    // Encodings count up in steps of one unit, across powers of two as well.
    bits = uint64_t(m) + (uint64_t(unit - lowest) << l.mantissa);
    if (bits > largest) {
      bool away = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway ||
                  (rounding == Rounding::Up && !negative) ||
                  (rounding == Rounding::Down && negative);
      bits = finite || !away ? largest : l.hasInfinity ? infinity : nan;
    }
  }
  bits |= uint64_t(negative) << (l.bits - 1);
  return format == Format::TF32 ? bits << 13 : bits;
}

/// Integers as the sign says.
static double integerValue(uint64_t bits, Format f) {
  switch (f) {
  case Format::S8:
    return int8_t(bits);
  case Format::S16:
    return int16_t(bits);
  case Format::S32:
    return int32_t(bits);
  case Format::S64:
    return double(int64_t(bits));
  case Format::U8:
    return uint8_t(bits);
  case Format::U16:
    return uint16_t(bits);
  case Format::U32:
    return uint32_t(bits);
  default:
    return double(bits);
  }
}

static uint64_t toInteger(double value, Format from, Format f) {
  bool isSigned = f <= Format::S64;
  unsigned bits = bitWidth(f);
  if (std::isnan(value))
    return bits == 64 || from == Format::F64 ? uint64_t(1) << (bits - 1) : 0;
  if (isSigned) {
    double limit = std::ldexp(1.0, int(bits) - 1);
    if (value >= limit)
      return (uint64_t(1) << (bits - 1)) - 1;
    if (value < -limit)
      return uint64_t(1) << (bits - 1);
    return uint64_t(int64_t(value));
  }
  if (value <= 0)
    return 0;
  if (value >= std::ldexp(1.0, int(bits)))
    return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return uint64_t(value);
}

uint64_t tile::emu::convert(uint64_t bits, Format from, Format to, Rounding rounding,
                            uint32_t flags) {
  if (!isFloat(from)) {
    // A 64-bit integer rounds once, so not through a double.
    if (to == Format::F32 && (from == Format::S64 || from == Format::U64) &&
        rounding == Rounding::NearestEven)
      return llvm::bit_cast<uint32_t>(from == Format::S64 ? float(int64_t(bits)) : float(bits));
    if (isFloat(to))
      return encode(to, integerValue(bits, from), rounding, false);
    return bits;
  }
  double value = decode(from, bits);
  if (flags & kFlush && from == Format::F32 && std::fabs(value) < 0x1p-126)
    value = std::copysign(0.0, value);
  if (flags & kSaturate && isFloat(to))
    value = std::isnan(value) ? 0.0 : std::fmin(std::fmax(value, 0.0), 1.0);
  if (flags & kRelu && value < 0)
    value = 0;
  if (isFloat(to))
    return encode(to, value, rounding, flags & kSaturateFinite);
  double whole = std::copysign(roundInteger(std::fabs(value), rounding, value < 0), value);
  if (std::isinf(value) || std::isnan(value))
    whole = value;
  return toInteger(whole, from, to);
}

const float *tile::emu::halfTable() {
  static const std::vector<float> table = [] {
    std::vector<float> t(65536);
    for (unsigned i = 0; i < 65536; ++i)
      t[i] = float(decode(Format::F16, i));
    return t;
  }();
  return table.data();
}

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

static uint64_t addFloats(Format f, uint64_t a, uint64_t b) {
  if (f == Format::F32)
    return llvm::bit_cast<uint32_t>(llvm::bit_cast<float>(uint32_t(a)) +
                                    llvm::bit_cast<float>(uint32_t(b)));
  // Sums of two 16-bit floats are exact in double.
  return encode(f, decode(f, a) + decode(f, b));
}

bool tile::emu::isFloatSum(AtomicKind kind) {
  return kind == AtomicKind::FAdd || kind == AtomicKind::FAddBF16 ||
         kind == AtomicKind::FAddF16x2 || kind == AtomicKind::FAddBF16x2;
}

uint64_t tile::emu::applyAtomic(AtomicKind kind, uint64_t old, uint64_t operand, uint64_t compare,
                                unsigned bytes) {
  unsigned shift = 64 - 8 * bytes;
  auto asSigned = [&](uint64_t v) { return int64_t(v << shift) >> shift; };
  auto asUnsigned = [&](uint64_t v) { return v << shift >> shift; };
  Format f = bytes == 2 ? Format::F16 : bytes == 4 ? Format::F32 : Format::F64;
  auto pairs = [&](Format half) {
    return addFloats(half, old & 0xffff, operand & 0xffff) |
           addFloats(half, old >> 16 & 0xffff, operand >> 16 & 0xffff) << 16;
  };
  switch (kind) {
  case AtomicKind::Add:
    return old + operand;
  case AtomicKind::FAdd:
    return addFloats(f, old, operand);
  case AtomicKind::FAddBF16:
    return addFloats(Format::BF16, old, operand);
  case AtomicKind::FAddF16x2:
    return pairs(Format::F16);
  case AtomicKind::FAddBF16x2:
    return pairs(Format::BF16);
  case AtomicKind::MinS:
    return asSigned(old) < asSigned(operand) ? old : operand;
  case AtomicKind::MaxS:
    return asSigned(old) > asSigned(operand) ? old : operand;
  case AtomicKind::MinU:
    return asUnsigned(old) < asUnsigned(operand) ? old : operand;
  case AtomicKind::MaxU:
    return asUnsigned(old) > asUnsigned(operand) ? old : operand;
  case AtomicKind::And:
    return old & operand;
  case AtomicKind::Or:
    return old | operand;
  case AtomicKind::Xor:
    return old ^ operand;
  case AtomicKind::Exchange:
    return operand;
  case AtomicKind::CompareExchange:
    return asUnsigned(old) == asUnsigned(compare) ? operand : old;
  case AtomicKind::Increment:
    return asUnsigned(old) >= asUnsigned(operand) ? 0 : old + 1;
  case AtomicKind::Decrement:
    return asUnsigned(old) == 0 || asUnsigned(old) > asUnsigned(operand) ? operand : old - 1;
  }
  return old;
}
