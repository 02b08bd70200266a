//===- Reference.h - slow, obvious float formats to compare with ----------===//
//
// Nothing here shares code with the interpreter: a format is the table of all
// its finite values, and rounding is a search in that table.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_UNIT_INTERP_REFERENCE_H
#define TILE_TESTS_UNIT_INTERP_REFERENCE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tile::interp::test {

using Quad = __float128; ///< 113 bits: sums and products of narrow floats are exact

struct Format {
  std::string name;
  int exponentBits, mantissaBits;
  bool hasInf;
  std::vector<double> finite; ///< non-negative, by bit pattern

  Format(std::string name, int exponentBits, int mantissaBits, bool hasInf)
      : name(std::move(name)), exponentBits(exponentBits), mantissaBits(mantissaBits),
        hasInf(hasInf) {
    for (uint32_t bits = 0; bits < signBit(); ++bits)
      if (double v = decode(bits); std::isfinite(v))
        finite.push_back(v);
  }
  uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int width() const { return 1 + exponentBits + mantissaBits; }

  double decode(uint32_t bits) const {
    bool negative = bits & signBit();
    int exponent = int(bits >> mantissaBits) & ((1 << exponentBits) - 1);
    int mantissa = int(bits & ((1u << mantissaBits) - 1));
    int top = (1 << exponentBits) - 1, full = (1 << mantissaBits) - 1;
    double v;
    if (hasInf && exponent == top)
      v = mantissa ? NAN : INFINITY;
    else if (!hasInf && exponent == top && mantissa == full)
      v = NAN;
    else if (exponent == 0)
      v = std::ldexp(mantissa, 1 - bias() - mantissaBits);
    else
      v = std::ldexp(mantissa + (1 << mantissaBits), exponent - bias() - mantissaBits);
    return negative ? -v : v;
  }

  bool isNan(uint32_t bits) const { return std::isnan(decode(bits)); }

  enum Mode { Even, Zero };
  /// The bits of x rounded; any NaN may come back as `nan()`.
  uint32_t encode(Quad x, Mode mode = Even, bool saturate = false) const {
    if (x != x)
      return nan();
    bool negative = std::signbit(double(x)) && (x < 0 || x == 0);
    Quad magnitude = x < 0 ? -x : x;
    auto largest = uint32_t(finite.size() - 1);
    uint32_t overflow = saturate ? largest : hasInf ? largest + 1 : nan();
    uint32_t sign = negative ? signBit() : 0;
    if (magnitude > Quad(std::numeric_limits<double>::max()))
      return sign | overflow;
    // The largest table entry not above the magnitude, and the one after it,
    // which past the end is where the next value would be.
    size_t low = 0, high = finite.size();
    while (high - low > 1) {
      size_t middle = (low + high) / 2;
      (Quad(finite[middle]) <= magnitude ? low : high) = middle;
    }
    Quad below = finite[low];
    Quad above = low < largest ? Quad(finite[low + 1]) : below + (below - finite[low - 1]);
    if (mode == Zero || magnitude == below)
      return sign | uint32_t(low);
    Quad toLow = magnitude - below, toHigh = above - magnitude;
    bool up = toHigh < toLow || (toHigh == toLow && (low & 1));
    if (!up)
      return sign | uint32_t(low);
    return sign | (low == largest ? overflow : uint32_t(low + 1));
  }
  uint32_t nan() const { return hasInf ? uint32_t(finite.size()) + 1 : uint32_t(finite.size()); }

  /// Equal bits, or both NaN.
  bool same(uint32_t a, uint32_t b) const { return a == b || (isNan(a) && isNan(b)); }

  /// Every finite value, every midpoint of neighbours and the doubles next to
  /// it, both signs, beyond the largest, and the specials.
  std::vector<double> interesting() const {
    std::vector<double> out = {0.0, INFINITY, NAN, 1e300, 1e-300, 5e-324, 3.4e38, 1e-46};
    for (size_t k = 0; k < finite.size(); ++k) {
      double next = k + 1 < finite.size() ? finite[k + 1] : 2 * finite[k] - finite[k - 1];
      double middle = (finite[k] + next) / 2;
      for (double v :
           {finite[k], middle, std::nextafter(middle, 0.0), std::nextafter(middle, INFINITY),
            double(std::nextafter(float(middle), 0.0f)),
            double(std::nextafter(float(middle), INFINITY))})
        out.push_back(v);
    }
    for (size_t k = 0, n = out.size(); k < n; ++k)
      out.push_back(-out[k]);
    return out;
  }
};

inline const Format &halfFormat() {
  static const Format f("f16", 5, 10, true);
  return f;
}
inline const Format &bfloatFormat() {
  static const Format f("bf16", 8, 7, true);
  return f;
}
inline const Format &e4m3Format() {
  static const Format f("f8E4M3FN", 4, 3, false);
  return f;
}
inline const Format &e5m2Format() {
  static const Format f("f8E5M2", 5, 2, true);
  return f;
}
inline std::vector<const Format *> allFormats() {
  return {&halfFormat(), &bfloatFormat(), &e4m3Format(), &e5m2Format()};
}

} // namespace tile::interp::test

#endif // TILE_TESTS_UNIT_INTERP_REFERENCE_H
