//===- Numeric.h - element types and their exact arithmetic ---------------===//
//
// The scalar semantics of the interpreter, in one place. Every element type is
// stored in the smallest C++ type that holds its bits; floats narrower than 32
// bits are decoded to float (always exact), computed on, and rounded once.
// Where the IR leaves an integer result undefined, the value chosen here is the
// definition: see the comments on each function.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_INTERP_NUMERIC_H
#define TILE_RUNTIME_INTERP_NUMERIC_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tile::interp {

/// How the elements of a register are stored. Pointers and `index` are I64.
enum class DType : uint8_t { I1, I8, I16, I32, I64, F8E4M3, F8E5M2, F16, BF16, F32, F64 };

inline unsigned byteSize(DType t) {
  constexpr uint8_t sizes[] = {1, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8};
  return sizes[unsigned(t)];
}
inline bool isFloat(DType t) { return t >= DType::F8E4M3; }
inline unsigned bitWidth(DType t) { return t == DType::I1 ? 1 : 8 * byteSize(t); }

/// i1 is stored as a byte that is 0 or 1.
struct Bool {
  uint8_t bits;
};
struct E4M3 {
  uint8_t bits;
};
struct E5M2 {
  uint8_t bits;
};
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Views stored integer bits as unsigned or signed; i1 true is -1 when signed.
template <class T> struct IntTraits {
  using Unsigned = std::make_unsigned_t<T>;
  using Signed = std::make_signed_t<T>;
  static constexpr unsigned width = 8 * sizeof(T);
  static Unsigned zext(T v) { return Unsigned(v); }
  static Signed sext(T v) { return Signed(v); }
  static T make(Unsigned v) { return T(v); }
};
template <> struct IntTraits<Bool> {
  using Unsigned = uint8_t;
  using Signed = int8_t;
  static constexpr unsigned width = 1;
  static Unsigned zext(Bool v) { return v.bits; }
  static Signed sext(Bool v) { return Signed(-int8_t(v.bits)); }
  static Bool make(Unsigned v) { return Bool{uint8_t(v & 1)}; }
};

/// Division by zero: all ones, the remainder too.
/// INT_MIN / -1: INT_MIN, remainder 0.
template <class U> U divideUnsigned(U a, U b) { return b ? U(a / b) : U(~U(0)); }
template <class U> U remainderUnsigned(U a, U b) { return b ? U(a % b) : U(~U(0)); }
template <class S> S divideSigned(S a, S b) {
  using U = std::make_unsigned_t<S>;
  if (b == 0)
    return S(-1);
  if (b == -1)
    return S(U(0) - U(a));
  return S(a / b);
}
template <class S> S remainderSigned(S a, S b) {
  if (b == 0)
    return S(-1);
  return b == -1 ? S(0) : S(a % b);
}
template <class S> S floorDivideSigned(S a, S b) {
  S q = divideSigned(a, b);
  return b != 0 && remainderSigned(a, b) != 0 && ((a < 0) != (b < 0)) ? S(q - 1) : q;
}
template <class S> S ceilDivideSigned(S a, S b) {
  S q = divideSigned(a, b);
  return b != 0 && remainderSigned(a, b) != 0 && ((a < 0) == (b < 0)) ? S(q + 1) : q;
}
template <class U> U ceilDivideUnsigned(U a, U b) {
  return b && a % b ? U(a / b + 1) : divideUnsigned(a, b);
}

/// A shift by the width or more (the amount is unsigned) shifts everything
/// out: zeros, or copies of the sign.
template <class U> U shiftLeft(U a, U amount, unsigned width) {
  return amount < width ? U(uint64_t(a) << amount) : U(0);
}
template <class U> U shiftRightLogical(U a, U amount, unsigned width) {
  return amount < width ? U(a >> amount) : U(0);
}
template <class S, class U> S shiftRightArithmetic(S a, U amount, unsigned width) {
  return S(a >> (amount < width ? amount : U(width - 1)));
}

//===----------------------------------------------------------------------===//
// Narrow floats
//===----------------------------------------------------------------------===//

/// What tells one binary format from another. `maxFinite` is the bit pattern
/// of the largest finite value; formats without infinity have NaN just above.
template <int ExponentBits, int MantissaBits, bool HasInf> struct FloatFormat {
  static constexpr int mantissa = MantissaBits;
  static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  static constexpr int signShift = ExponentBits + MantissaBits;
  static constexpr bool hasInf = HasInf;
  static constexpr uint64_t exponentMask = (uint64_t(1) << ExponentBits) - 1;
  static constexpr uint64_t infinity = exponentMask << MantissaBits;
  static constexpr uint64_t maxFinite = HasInf ? infinity - 1 : (uint64_t(1) << signShift) - 2;
  static constexpr uint64_t nan =
      HasInf ? infinity | (uint64_t(1) << (MantissaBits - 1)) : (uint64_t(1) << signShift) - 1;
};
using E4M3Format = FloatFormat<4, 3, false>;
using E5M2Format = FloatFormat<5, 2, true>;
using HalfFormat = FloatFormat<5, 10, true>;
using BFloatFormat = FloatFormat<8, 7, true>;
using SingleFormat = FloatFormat<8, 23, true>;

enum class Round { NearestEven, TowardZero, Up, Down, NearestAway };

/// Rounds a double once to format F. Overflow gives infinity (NaN where the
/// format has none) or, as the rounding mode demands, the largest finite
/// value; with `saturate` always the latter, also for an infinite operand.
template <class F> uint64_t encode(double value, Round round, bool saturate) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t sign = bits >> 63 << F::signShift;
  uint64_t fraction = bits & 0xfffffffffffffull;
  int exponent = int(bits >> 52 & 0x7ff) - 1023;
  const uint64_t overflow = F::hasInf ? F::infinity : F::nan;
  if (exponent == 1024) {
    if (fraction) // quiet NaN; the payload does not survive
      return sign | F::nan;
    return sign | (saturate ? F::maxFinite : overflow);
  }
  if (exponent == -1023) { // zero or a subnormal double: below every format's half ulp
    if (fraction == 0)
      return sign;
    bool away = (round == Round::Up && !sign) || (round == Round::Down && sign);
    return sign | uint64_t(away);
  }
  constexpr int minExponent = 1 - F::bias;
  bool normal = exponent >= minExponent;
  int shift = 52 - F::mantissa + (normal ? 0 : minExponent - exponent);
  shift = shift > 63 ? 63 : shift;
  uint64_t significand = fraction | (uint64_t(1) << 52);
  uint64_t quotient = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  bool increment = false;
  switch (round) {
  case Round::NearestEven:
    increment = rest > half || (rest == half && (quotient & 1));
    break;
  case Round::NearestAway:
    increment = rest >= half;
    break;
  case Round::TowardZero:
    break;
  case Round::Up:
    increment = rest && !sign;
    break;
  case Round::Down:
    increment = rest && sign;
    break;
  }
  quotient += increment;
  // A carry out of the significand moves into the exponent by itself.
  uint64_t magnitude = quotient;
  if (normal)
    magnitude += (uint64_t(exponent + F::bias) - 1) << F::mantissa;
  if (magnitude > F::maxFinite) {
    bool inward = round == Round::TowardZero || (round == Round::Up && sign) ||
                  (round == Round::Down && !sign);
    magnitude = saturate || inward ? F::maxFinite : overflow;
  }
  return sign | magnitude;
}

/// The exact value of a narrow float.
template <class F> float decode(uint32_t bits) {
  uint32_t magnitude = bits & ((1u << F::signShift) - 1);
  uint32_t sign = bits >> F::signShift << 31;
  uint32_t exponent = magnitude >> F::mantissa;
  if (F::hasInf ? exponent == F::exponentMask : magnitude == F::nan) {
    uint32_t fraction = F::hasInf ? magnitude & ((1u << F::mantissa) - 1) : 1;
    return std::bit_cast<float>(sign | 0x7f800000u | (fraction ? 0x400000u : 0));
  }
  if (exponent == 0) { // zero or subnormal: an integer times the smallest step
    float value =
        float(magnitude) * std::bit_cast<float>(uint32_t(127 + 1 - F::bias - F::mantissa) << 23);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign |
                              (magnitude << (23 - F::mantissa)) + (uint32_t(127 - F::bias) << 23));
}

/// Branch-free so that loops of them vectorise.
inline float toFloat(Half h) {
  uint32_t magnitude = h.bits & 0x7fffu;
  uint32_t sign = uint32_t(h.bits & 0x8000u) << 16;
  uint32_t normal = (magnitude << 13) + (112u << 23);
  uint32_t special = normal + (112u << 23);
  uint32_t subnormal = std::bit_cast<uint32_t>(float(int32_t(magnitude)) * 0x1p-24f);
  uint32_t bits = magnitude >= 0x7c00u ? special : normal;
  bits = magnitude < 0x400u ? subnormal : bits;
  return std::bit_cast<float>(bits | sign);
}
inline float toFloat(BFloat b) { return std::bit_cast<float>(uint32_t(b.bits) << 16); }
inline float toFloat(E4M3 v) { return decode<E4M3Format>(v.bits); }
/// E5M2 is the upper half of a binary16.
inline float toFloat(E5M2 v) { return toFloat(Half{uint16_t(v.bits << 8)}); }
inline float toFloat(float v) { return v; }
inline double toFloat(double v) { return v; }

inline Half roundToHalf(float f) {
  uint32_t bits = std::bit_cast<uint32_t>(f);
  uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  // Adding 0.5 aligns the significand so that the FPU rounds at bit 2^-24.
  float aligned = std::bit_cast<float>(magnitude) + 0.5f;
  uint32_t subnormal = std::bit_cast<uint32_t>(aligned) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x47800000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7e00u : result;
  return Half{uint16_t(result | sign)};
}
inline BFloat roundToBFloat(float f) {
  uint32_t bits = std::bit_cast<uint32_t>(f);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  uint32_t quiet = bits >> 16 | 0x40u;
  return BFloat{uint16_t((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded)};
}

/// round<T>(x): x rounded once, to nearest even, as arithmetic does. The 8-bit
/// formats saturate, as `tile.fp_cast` defines.
template <class T> T roundTo(float f);
template <> inline Half roundTo<Half>(float f) { return roundToHalf(f); }
template <> inline BFloat roundTo<BFloat>(float f) { return roundToBFloat(f); }
template <> inline E4M3 roundTo<E4M3>(float f) {
  return E4M3{uint8_t(encode<E4M3Format>(f, Round::NearestEven, true))};
}
template <> inline E5M2 roundTo<E5M2>(float f) {
  return E5M2{uint8_t(encode<E5M2Format>(f, Round::NearestEven, true))};
}
template <> inline float roundTo<float>(float f) { return f; }

/// The type arithmetic on T is carried out in.
template <class T> using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T> T fromCompute(Compute<T> v) {
  if constexpr (std::is_same_v<T, double>)
    return v;
  else
    return roundTo<T>(v);
}

//===----------------------------------------------------------------------===//
// Scalar functions with a definition of their own
//===----------------------------------------------------------------------===//

/// The double with all of v's leading bits and the last bit sticky, so that
/// rounding it once more is rounding v.
inline double roundToOdd(uint64_t v) {
  int excess = 64 - std::countl_zero(v) - 53;
  if (excess <= 0)
    return double(v);
  uint64_t lost = v & ((uint64_t(1) << excess) - 1);
  return double((v >> excess) | (lost != 0)) * double(uint64_t(1) << excess);
}
inline double roundToOdd(int64_t v) {
  return v < 0 ? -roundToOdd(uint64_t(0) - uint64_t(v)) : roundToOdd(uint64_t(v));
}

/// a * b + c for operands of at most 24 bits, rounded to odd in double: one
/// further rounding to a format of at most 24 bits is exact.
inline double fmaToOdd(double a, double b, double c) {
  double p = a * b; // exact
  double s = p + c;
  double t = s - p;
  double error = (p - (s - t)) + (c - t);
  if (!(error != 0) || !std::isfinite(s))
    return s;
  int64_t bits = std::bit_cast<int64_t>(s);
  if (!(bits & 1))
    bits += (error > 0) == (s > 0) ? 1 : -1;
  return std::bit_cast<double>(bits);
}

/// Out-of-range values saturate, as the hardware converts.
template <class I> I convertedToInt(double v, I ofNaN) {
  constexpr I low = std::numeric_limits<I>::min(), high = std::numeric_limits<I>::max();
  if (std::isnan(v))
    return ofNaN;
  // `high` may round up in double; everything at or above it saturates.
  constexpr double limit =
      std::is_signed_v<I> ? -double(low) : 2.0 * double(I(1) << (8 * sizeof(I) - 1));
  if (v >= limit)
    return high;
  if (v <= double(low))
    return low;
  return I(v);
}

template <class I> I saturatingToInt(double v) { return convertedToInt<I>(v, 0); }

/// -0 orders below +0 in all four. maximum/minimum propagate NaN;
/// maxNum/minNum ignore it unless both are NaN.
template <class C> C maxNum(C a, C b) {
  if (std::isnan(a))
    return b;
  if (std::isnan(b))
    return a;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class C> C minNum(C a, C b) {
  if (std::isnan(a))
    return b;
  if (std::isnan(b))
    return a;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class C> C maximum(C a, C b) {
  return std::isnan(a) || std::isnan(b) ? a + b : maxNum(a, b);
}
template <class C> C minimum(C a, C b) {
  return std::isnan(a) || std::isnan(b) ? a + b : minNum(a, b);
}

} // namespace tile::interp

#endif // TILE_RUNTIME_INTERP_NUMERIC_H
