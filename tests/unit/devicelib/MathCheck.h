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
  const uint64_t stride = text ? std::strtoull(text, nullptr, 10) : 1021;
  Worst worst;
  for (uint64_t pattern = 0; pattern < (1ull << 32); pattern += stride) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(pattern));
    if (!(x >= low && x <= high) && !(std::isnan(x) && low == -INFINITY))
      continue;
    const double error = ulpError(f(x), reference(x));
    if (error > worst.ulp)
      worst = {error, x};
  }
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

} // namespace tile::test

#endif // TILE_TESTS_UNIT_DEVICELIB_MATHCHECK_H
