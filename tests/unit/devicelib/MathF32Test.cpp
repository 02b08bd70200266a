//===- MathF32Test.cpp - error of every f32 device function ---------------===//
//
// The bounds are those that devicelib/README.md states.
//
//===----------------------------------------------------------------------===//
#include "MathCheck.h"

using namespace tile::test;

extern "C" {
float __tile_exp2f(float), __tile_fast_expf(float), __tile_expf(float), __tile_exp10f(float);
float __tile_logf(float), __tile_log2f(float), __tile_log10f(float), __tile_log1pf(float);
float __tile_expm1f(float), __tile_sinf(float), __tile_cosf(float), __tile_tanhf(float);
float __tile_erff(float), __tile_erf_absolutef(float), __tile_erfcf(float), __tile_tanf(float),
    __tile_atanf(float);
float __tile_asinf(float), __tile_acosf(float), __tile_sinhf(float), __tile_coshf(float);
float __tile_asinhf(float), __tile_acoshf(float), __tile_atanhf(float), __tile_cbrtf(float);
float __tile_roundf(float), __tile_rintf(float);
float __tile_powf(float, float), __tile_atan2f(float, float), __tile_fmodf(float, float);
float __tile_remainderf(float, float), __tile_hypotf(float, float), __tile_fdimf(float, float);
float __tile_ldexpf(float, int), __tile_erfinvf(float), __tile_lgammaf(float),
    __tile_tgammaf(float);
float __tile_normcdff(float);
double __tile_erfinv(double);
}

static double exp10Reference(double x) { return static_cast<double>(powl(10.0L, x)); }

TEST(MathF32, Exponentials) {
  // Below 2^-126 exp2 flushes to zero.
  expectWithin("exp2", __tile_exp2f, [](double x) { return std::exp2(x); }, 0.51, 5.1, -126.0f);
  expectWithin("fast_exp", __tile_fast_expf, [](double x) { return std::exp(x); }, 64, 68);
  expectWithin("exp", __tile_expf, [](double x) { return std::exp(x); }, 1.0, 5.1);
  expectWithin("exp10", __tile_exp10f, exp10Reference, 1.0, 5.1);
  expectWithin("expm1", __tile_expm1f, [](double x) { return std::expm1(x); }, 1.6);
}

TEST(MathF32, Logarithms) {
  expectWithin("log", __tile_logf, [](double x) { return std::log(x); }, 1.0);
  expectWithin("log2", __tile_log2f, [](double x) { return std::log2(x); }, 1.0);
  expectWithin("log10", __tile_log10f, [](double x) { return std::log10(x); }, 1.2);
  expectWithin("log1p", __tile_log1pf, [](double x) { return std::log1p(x); }, 1.5);
}

TEST(MathF32, Trigonometry) {
  expectWithin("sin", __tile_sinf, [](double x) { return std::sin(x); }, 1.6);
  expectWithin("cos", __tile_cosf, [](double x) { return std::cos(x); }, 1.6);
  expectWithin("tan", __tile_tanf, [](double x) { return std::tan(x); }, 4.0);
}

TEST(MathF32, InverseTrigonometry) {
  expectWithin("asin", __tile_asinf, [](double x) { return std::asin(x); }, 2.0);
  expectWithin("acos", __tile_acosf, [](double x) { return std::acos(x); }, 2.0);
  expectWithin("atan", __tile_atanf, [](double x) { return std::atan(x); }, 2.0);
  expectPairsWithin<float, double>(
      "atan2", __tile_atan2f, [](double y, double x) { return std::atan2(y, x); }, 3.0, 4, 4);
}

TEST(MathF32, Hyperbolics) {
  expectWithin("sinh", __tile_sinhf, [](double x) { return std::sinh(x); }, 2.0, 6.0);
  expectWithin("cosh", __tile_coshf, [](double x) { return std::cosh(x); }, 2.0, 6.0);
  expectWithin("asinh", __tile_asinhf, [](double x) { return std::asinh(x); }, 3.0);
  expectWithin("acosh", __tile_acoshf, [](double x) { return std::acosh(x); }, 3.0);
  expectWithin("atanh", __tile_atanhf, [](double x) { return std::atanh(x); }, 3.0);
}

TEST(MathF32, Powers) {
  auto power = [](double x, double y) { return std::pow(x, y); };
  expectPairsWithin<float, double>("pow", __tile_powf, power, 2.5, 4, 100);
  expectPairsWithin<float, double>(
      "pow near 1", [](float x, float y) { return __tile_powf(1.0f + x, y); },
      [](double x, double y) {
        return std::pow(static_cast<double>(1.0f + static_cast<float>(x)), y);
      },
      2.0, 0.1, 800);
  expectWithin("cbrt", __tile_cbrtf, [](double x) { return std::cbrt(x); }, 1.0, 1.6);
  expectPairsWithin<float, double>(
      "hypot", __tile_hypotf, [](double x, double y) { return std::hypot(x, y); }, 1.5, 4, 4);
}

TEST(MathF32, ExactFunctions) {
  auto remainderOf = [](double x, double y) {
    return std::remainder(static_cast<float>(x), static_cast<float>(y));
  };
  auto modulo = [](double x, double y) { return std::fmod(x, y); };
  expectPairsWithin<float, double>("fmod", __tile_fmodf, modulo, 0.0, 1e6, 1);
  expectPairsWithin<float, double>("fmod wide", __tile_fmodf, modulo, 0.0, 1e30, 1e-30);
  expectPairsWithin<float, double>("remainder", __tile_remainderf, remainderOf, 0.0, 1e3, 10);
  expectPairsWithin<float, double>(
      "fdim", __tile_fdimf, [](double x, double y) { return std::fdim(x, y); }, 0.5, 4, 4);
  expectWithin("round", __tile_roundf, [](double x) { return std::round(x); }, 0.0);
  expectWithin("rint", __tile_rintf, [](double x) { return std::rint(x); }, 0.0);
  for (int n : {-400, -277, -150, -149, -130, -1, 0, 1, 60, 127, 254, 277, 400})
    expectWithin(
        "ldexp", [n](float x) { return __tile_ldexpf(x, n); },
        [n](double x) { return std::ldexp(x, n); }, 0.5);
}

TEST(MathF32, Others) {
  expectWithin("tanh", __tile_tanhf, [](double x) { return std::tanh(x); }, 1.9, 2.6);
  expectWithin("erf", __tile_erff, [](double x) { return std::erf(x); }, 1.1, 1.7);
  expectWithin(
      "2 + erf", [](float x) { return 2.0f + __tile_erf_absolutef(x); },
      [](double x) { return 2.0 + std::erf(x); }, 2.0, 3.5);
  expectWithin("erfc", __tile_erfcf, [](double x) { return std::erfc(x); }, 4.0, 10.0);
  expectWithin("tgamma", __tile_tgammaf, [](double x) { return std::tgamma(x); }, 1.0);
  expectWithin("lgamma", __tile_lgammaf, [](double x) { return std::lgamma(x); }, 6.0, 0, 0.0f);
  // The reference for erfinv is the inverse by Newton steps in long double.
  auto inverse = [](double x) {
    if (!(std::fabs(x) < 1))
      return std::fabs(x) == 1 ? std::copysign(INFINITY, x) : static_cast<double>(NAN);
    long double a = std::fabs(x), y = __tile_erfinv(static_cast<double>(a));
    for (int i = 0; i < 3; ++i) {
      const long double error = a < 0.5L ? erfl(y) - a : (1 - a) - erfcl(y);
      y -= error * 0.88622692545275801364908374167057259L * expl(y * y);
    }
    return std::copysign(static_cast<double>(y), x);
  };
  expectWithin("erfinv", __tile_erfinvf, inverse, 5.0);
  expectWithin(
      "normcdf", __tile_normcdff, [](double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }, 5.0,
      12.0);
}
