//===- MathCheck.h - measuring the error of a device function -------------===//
//
// Errors are in ulp of the correctly rounded result, against a wider type.
// Inputs of one f32 argument are a stride through all 2^32 bit patterns, so
// every binade, denormals, infinities and NaNs are met; TILE_MATH_STRIDE=1 in
// the environment makes it all of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_UNIT_DEVICELIB_MATHCHECK_H
#define TILE_TESTS_UNIT_DEVICELIB_MATHCHECK_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>

extern "C" double tileApproximationBias;

namespace tile::test {

/// Distance of `got` from `exact` in units of the last place of Float around
/// `exact`. Infinite if one is NaN or infinite and the other is not the same.
/// A wrong sign of zero counts as an infinite error too.
template <typename Float, typename Wide> double ulpError(Float got, Wide exact) {
  using Limits = std::numeric_limits<Float>;
  const Float rounded = static_cast<Float>(exact);
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0.0 : INFINITY;
  if (rounded == 0 && got == 0)
    return exact != 0 || std::signbit(got) == std::signbit(exact) ? 0.0 : INFINITY;
  if (got == rounded)
    return 0.0;
  Wide value = got;
  // Next to the overflow threshold infinity stands for the power of two it replaces.
  const Wide top = std::ldexp(static_cast<Wide>(1), Limits::max_exponent);
  if (std::isinf(rounded) || std::isinf(got)) {
    if (std::isinf(got) && std::isinf(exact))
      return INFINITY; // of opposite sign
    if (std::isinf(got))
      value = std::copysign(top, static_cast<Wide>(got));
    if (std::isinf(exact))
      exact = std::copysign(top, exact);
  }
  int exponent = exact == 0 ? Limits::min_exponent : std::ilogb(exact) + 1;
  exponent = std::max(exponent, Limits::min_exponent) - Limits::digits;
  return static_cast<double>(std::fabs(std::ldexp(value - exact, -exponent)));
}

struct Worst {
  double ulp = 0.0;
  double at = 0.0;
};

/// The largest error of f(x) over the strided floats in [low, high], and every
/// NaN if `low` is -inf.
template <typename F, typename Reference>
Worst worstF32(F f, Reference reference, float low = -INFINITY, float high = INFINITY) {
  const char *text = std::getenv("TILE_MATH_STRIDE");
  const uint64_t stride = text ? std::strtoull(text, nullptr, 10) : 4093;
  Worst worst;
  auto visit = [&](float x) {
    if (!(x >= low && x <= high) && !(std::isnan(x) && low == -INFINITY))
      return;
    const double error = ulpError(f(x), static_cast<double>(reference(x)));
    if (error > worst.ulp)
      worst = {error, x};
  };
  for (float x : {0.0f, 1.0f, 0x1p-126f, 0x1p-149f, 0x1.fffffep-1f, 0x1.000002p+0f, 0x1p127f,
                  0x1.fffffep+127f, INFINITY, NAN}) {
    visit(x);
    visit(-x);
  }
  for (uint64_t pattern = 0; pattern < (1ull << 32); pattern += stride)
    visit(std::bit_cast<float>(static_cast<uint32_t>(pattern)));
  return worst;
}

/// Fails unless f stays within `bound` ulp of the reference with exact hardware
/// approximations and within `worstHardware` with the worst permitted ones.
template <typename F, typename Reference>
void expectWithin(const char *name, F f, Reference reference, double bound,
                  double worstHardware = 0.0, float low = -INFINITY, float high = INFINITY) {
  for (double bias : {0.0, -1.0, 1.0}) {
    if (bias != 0.0 && worstHardware == 0.0)
      break;
    tileApproximationBias = bias;
    const Worst worst = worstF32(f, reference, low, high);
    std::printf("%-12s %s %8.3f ulp at %.9g (%a)\n", name,
                bias == 0.0 ? "exact ex2 " : (bias < 0 ? "low approx" : "hi  approx"), worst.ulp,
                worst.at, worst.at);
    EXPECT_LE(worst.ulp, bias == 0.0 ? bound : worstHardware) << name << " at " << worst.at;
  }
  tileApproximationBias = 0.0;
}

/// splitmix64.
inline uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Uniform in [-range, range).
inline double nextUniform(uint64_t &state, double range) {
  return range * (static_cast<double>(static_cast<int64_t>(nextRandom(state))) * 0x1p-63);
}

/// Calls `visit` with special doubles, `count` random bit patterns (every binade
/// alike) and `count` uniform values from [-range, range].
template <typename Visit> void forDoubles(double range, int count, Visit visit) {
  const double special[] = {0.0,
                            0.5,
                            1.0,
                            1.5,
                            2.0,
                            3.0,
                            0x1p-1074,
                            0x1.fffffffffffffp-1023,
                            0x1p-1022,
                            0x1.fffffffffffffp+1023,
                            0x1.fffffffffffffp-1,
                            0x1.0000000000001p+0,
                            INFINITY,
                            NAN,
                            0x1.921fb54442d18p+0,
                            0x1.6ac5b262ca1ffp+849,
                            0x1p29,
                            0x1p1023};
  for (double x : special) {
    visit(x);
    visit(-x);
  }
  uint64_t state = 42;
  for (int i = 0; i < count; ++i)
    visit(std::bit_cast<double>(nextRandom(state)));
  for (int i = 0; i < count; ++i)
    visit(nextUniform(state, range));
}

/// Calls `visit(x, y)` with all pairs of special values, `count` pairs of random
/// bit patterns, and `count` pairs from [-xRange, xRange] x [-yRange, yRange].
template <typename Float, typename Visit>
void forPairs(double xRange, double yRange, int count, Visit visit) {
  using Limits = std::numeric_limits<Float>;
  const Float special[] = {0,
                           Float(0.5),
                           1,
                           Float(1.5),
                           2,
                           3,
                           Limits::denorm_min(),
                           Limits::min(),
                           Limits::max(),
                           std::nextafter(Float(1), Float(0)),
                           1000,
                           Limits::infinity(),
                           Limits::quiet_NaN()};
  for (Float x : special)
    for (Float y : special)
      for (int signs = 0; signs < 4; ++signs)
        visit(signs & 1 ? -x : x, signs & 2 ? -y : y);
  using Bits = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;
  uint64_t state = 7;
  for (int i = 0; i < count; ++i) {
    const Bits x = static_cast<Bits>(nextRandom(state)), y = static_cast<Bits>(nextRandom(state));
    visit(std::bit_cast<Float>(x), std::bit_cast<Float>(y));
  }
  for (int i = 0; i < count; ++i) {
    const Float x = static_cast<Float>(nextUniform(state, xRange));
    visit(x, static_cast<Float>(nextUniform(state, yRange)));
  }
}

/// Fails unless f(x, y) stays within `bound` ulp of the reference in `Wide`.
template <typename Float, typename Wide, typename F, typename Reference>
void expectPairsWithin(const char *name, F f, Reference reference, double bound, double xRange,
                       double yRange) {
  const char *text = std::getenv("TILE_MATH_SAMPLES");
  double worst = 0.0;
  Float atX = 0, atY = 0;
  forPairs<Float>(xRange, yRange, text ? std::atoi(text) : 200000, [&](Float x, Float y) {
    const double error =
        ulpError(f(x, y), static_cast<Wide>(reference(static_cast<Wide>(x), static_cast<Wide>(y))));
    if (error > worst) {
      worst = error;
      atX = x, atY = y;
    }
  });
  std::printf("%-12s f%zu        %8.3f ulp at %.17g, %.17g\n", name, sizeof(Float) * 8, worst,
              static_cast<double>(atX), static_cast<double>(atY));
  EXPECT_LE(worst, bound) << name << " at " << atX << ", " << atY;
}

/// As above for f64, against long double.
template <typename F, typename Reference>
void expectWithin64(const char *name, F f, Reference reference, double bound, double range) {
  const char *text = std::getenv("TILE_MATH_SAMPLES");
  Worst worst;
  forDoubles(range, text ? std::atoi(text) : 300000, [&](double x) {
    const double error = ulpError(f(x), reference(static_cast<long double>(x)));
    if (error > worst.ulp)
      worst = {error, x};
  });
  std::printf("%-12s f64        %8.3f ulp at %.17g (%a)\n", name, worst.ulp, worst.at, worst.at);
  EXPECT_LE(worst.ulp, bound) << name << " at " << worst.at;
}

} // namespace tile::test

#endif // TILE_TESTS_UNIT_DEVICELIB_MATHCHECK_H
