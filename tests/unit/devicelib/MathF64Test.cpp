//===- MathF64Test.cpp - error of every f64 device function ---------------===//
#include "MathCheck.h"

using namespace tile::test;

extern "C" {
double __tile_exp2(double), __tile_exp(double), __tile_exp10(double), __tile_expm1(double);
double __tile_log(double), __tile_log2(double), __tile_log10(double), __tile_log1p(double);
double __tile_sin(double), __tile_cos(double), __tile_tanh(double), __tile_erf(double);
double __tile_rsqrt(double), __tile_tgamma(double), __tile_lgamma(double), __tile_erfinv(double);
double __tile_normcdf(double);
double __tile_erfc(double), __tile_tan(double), __tile_atan(double);
double __tile_asin(double), __tile_acos(double), __tile_sinh(double), __tile_cosh(double);
double __tile_asinh(double), __tile_acosh(double), __tile_atanh(double), __tile_cbrt(double);
double __tile_round(double), __tile_rint(double), __tile_ldexp(double, int);
double __tile_pow(double, double), __tile_atan2(double, double), __tile_fmod(double, double);
double __tile_remainder(double, double), __tile_hypot(double, double);
double __tile_j0(double), __tile_j1(double), __tile_y0(double), __tile_y1(double);
double __tile_jn(int, double), __tile_yn(int, double);
double __tile_cyl_bessel_i0(double), __tile_cyl_bessel_i1(double);
double __tile_erfcx(double), __tile_erfcinv(double), __tile_normcdfinv(double);
double __tile_logb(double);
int __tile_ilogb(double);
}

using Long = long double;

TEST(MathF64, Exponentials) {
  expectWithin64("exp", __tile_exp, [](Long x) { return expl(x); }, 1.0, 750);
  expectWithin64("exp2", __tile_exp2, [](Long x) { return exp2l(x); }, 1.0, 1100);
  expectWithin64("exp10", __tile_exp10, [](Long x) { return powl(10.0L, x); }, 1.2, 330);
  expectWithin64("expm1", __tile_expm1, [](Long x) { return expm1l(x); }, 2.0, 4);
}

TEST(MathF64, Logarithms) {
  expectWithin64("log", __tile_log, [](Long x) { return logl(x); }, 1.3, 4);
  expectWithin64("log2", __tile_log2, [](Long x) { return log2l(x); }, 2.0, 4);
  expectWithin64("log10", __tile_log10, [](Long x) { return log10l(x); }, 2.0, 4);
  expectWithin64("log1p", __tile_log1p, [](Long x) { return log1pl(x); }, 2.0, 4);
}

TEST(MathF64, Trigonometry) {
  expectWithin64("sin", __tile_sin, [](Long x) { return sinl(x); }, 1.6, 100);
  expectWithin64("cos", __tile_cos, [](Long x) { return cosl(x); }, 1.6, 100);
  expectWithin64("tan", __tile_tan, [](Long x) { return tanl(x); }, 3.5, 100);
}

TEST(MathF64, InverseTrigonometry) {
  expectWithin64("asin", __tile_asin, [](Long x) { return asinl(x); }, 2.1, 1);
  expectWithin64("acos", __tile_acos, [](Long x) { return acosl(x); }, 2.0, 1);
  expectWithin64("atan", __tile_atan, [](Long x) { return atanl(x); }, 2.0, 4);
  expectPairsWithin<double, Long>(
      "atan2", __tile_atan2, [](Long y, Long x) { return atan2l(y, x); }, 2.0, 4, 4);
}

TEST(MathF64, Hyperbolics) {
  expectWithin64("sinh", __tile_sinh, [](Long x) { return sinhl(x); }, 2.0, 10);
  expectWithin64("cosh", __tile_cosh, [](Long x) { return coshl(x); }, 2.0, 10);
  expectWithin64("asinh", __tile_asinh, [](Long x) { return asinhl(x); }, 3.0, 10);
  expectWithin64("acosh", __tile_acosh, [](Long x) { return acoshl(x); }, 3.0, 10);
  expectWithin64("atanh", __tile_atanh, [](Long x) { return atanhl(x); }, 3.0, 1);
}

TEST(MathF64, Powers) {
  auto power = [](Long x, Long y) { return powl(x, y); };
  expectPairsWithin<double, Long>("pow", __tile_pow, power, 1.2, 4, 500);
  expectWithin64("cbrt", __tile_cbrt, [](Long x) { return cbrtl(x); }, 1.0, 10);
  expectPairsWithin<double, Long>(
      "hypot", __tile_hypot, [](Long x, Long y) { return hypotl(x, y); }, 1.5, 4, 4);
}

TEST(MathF64, ExactFunctions) {
  auto modulo = [](Long x, Long y) { return fmodl(x, y); };
  auto remainderOf = [](Long x, Long y) { return remainderl(x, y); };
  expectPairsWithin<double, Long>("fmod", __tile_fmod, modulo, 0.0, 1e12, 1);
  expectPairsWithin<double, Long>("fmod wide", __tile_fmod, modulo, 0.0, 1e30, 1e-30);
  expectPairsWithin<double, Long>("remainder", __tile_remainder, remainderOf, 0.0, 1e3, 10);
  expectWithin64("round", __tile_round, [](Long x) { return roundl(x); }, 0.0, 10);
  expectWithin64("rint", __tile_rint, [](Long x) { return rintl(x); }, 0.0, 10);
  for (int n : {-3000, -2099, -1074, -1, 0, 1, 1023, 2099, 3000})
    expectWithin64(
        "ldexp", [n](double x) { return __tile_ldexp(x, n); }, [n](Long x) { return ldexpl(x, n); },
        0.5, 10);
}

TEST(MathF64, Others) {
  expectWithin64("tanh", __tile_tanh, [](Long x) { return tanhl(x); }, 2.0, 4);
  expectWithin64("erf", __tile_erf, [](Long x) { return erfl(x); }, 1.2, 6);
  expectWithin64("rsqrt", __tile_rsqrt, [](Long x) { return 1.0L / sqrtl(x); }, 1.5, 6);
  expectWithin64("erfc", __tile_erfc, [](Long x) { return erfcl(x); }, 4.0, 27);
  expectWithin64("tgamma", __tile_tgamma, [](Long x) { return tgammal(x); }, 11.0, 180);
  expectWithin64(
      "lgamma", [](double x) { return __tile_lgamma(std::fabs(x)); },
      [](Long x) { return lgammal(std::fabs(x)); }, 8.0, 12);
  auto inverse = [](Long x) {
    const Long a = std::fabs(x);
    if (!(a < 1))
      return a == 1 ? std::copysign(static_cast<Long>(INFINITY), x) : static_cast<Long>(NAN);
    Long y = __tile_erfinv(static_cast<double>(a));
    for (int i = 0; i < 3; ++i) {
      const Long error = a < 0.5L ? erfl(y) - a : (1 - a) - erfcl(y);
      y -= error * 0.88622692545275801364908374167057259L * expl(y * y);
    }
    return std::copysign(y, x);
  };
  expectWithin64(
      "normcdf", __tile_normcdf,
      [](Long x) { return 0.5L * erfcl(-x * 0.70710678118654752440084436210484904L); }, 5.0, 30);
  expectWithin64("erfinv", __tile_erfinv, inverse, 4.0, 1);
}

/// Where ln gamma is negative or crosses zero, the error is absolute.
TEST(MathF64, LogGammaOfNegatives) {
  uint64_t state = 5;
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = -15.0 + nextUniform(state, 15.0);
    const Long exact = lgammal(x);
    const Long scale = std::max(std::fabs(exact), static_cast<Long>(1));
    worst = std::max(worst, static_cast<double>(std::fabs(__tile_lgamma(x) - exact) / scale));
  }
  EXPECT_LE(worst, 0x1p-49);
}

/// The worst error over (0, limit), in parts of the result or of 1/20.
static double worstError(double limit, double (*function)(double), Long (*exact)(Long)) {
  uint64_t state = 9;
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = std::fabs(nextUniform(state, limit)) + 1e-6;
    const Long e = exact(x), scale = std::max(std::fabs(e), static_cast<Long>(0.05));
    worst = std::max(worst, static_cast<double>(std::fabs(function(x) - e) / scale));
  }
  return worst;
}

TEST(MathF64, BesselFunctions) {
  for (double limit : {1.0, 30.0, 35.0, 1000.0}) {
    EXPECT_LE(worstError(limit, __tile_j0, [](Long x) { return j0l(x); }), 0x1p-46) << limit;
    EXPECT_LE(worstError(limit, __tile_j1, [](Long x) { return j1l(x); }), 0x1p-46) << limit;
    EXPECT_LE(worstError(limit, __tile_y0, [](Long x) { return y0l(x); }), 0x1p-46) << limit;
    EXPECT_LE(worstError(limit, __tile_y1, [](Long x) { return y1l(x); }), 0x1p-46) << limit;
  }
  auto fifth = [](double x) { return __tile_jn(5, x); };
  EXPECT_LE(worstError(100, fifth, [](Long x) { return jnl(5, x); }), 0x1p-45);
  auto second = [](double x) { return __tile_yn(2, x); };
  EXPECT_LE(worstError(100, second, [](Long x) { return ynl(2, x); }), 0x1p-45);
  EXPECT_EQ(__tile_jn(-3, 2.0), -__tile_jn(3, 2.0));
  EXPECT_EQ(__tile_jn(3, -2.0), -__tile_jn(3, 2.0));
}

/// The series, all of whose terms are positive.
template <int Order> static Long modifiedBessel(Long x) {
  Long term = Order ? x / 2 : 1, sum = term;
  for (int k = 1; term > sum * 1e-22L; ++k) {
    term *= x * x / 4 / (static_cast<Long>(k) * (k + Order));
    sum += term;
  }
  return sum;
}

TEST(MathF64, ModifiedBesselFunctions) {
  for (double limit : {1.0, 36.0, 300.0, 700.0}) {
    EXPECT_LE(worstError(limit, __tile_cyl_bessel_i0, modifiedBessel<0>), 0x1p-48) << limit;
    EXPECT_LE(worstError(limit, __tile_cyl_bessel_i1, modifiedBessel<1>), 0x1p-48) << limit;
  }
}

TEST(MathF64, InverseComplementaryErrorFunction) {
  double y = 1.9;
  while (y > 1e-300) {
    const Long x = __tile_erfcinv(y), slope = 1.12837916709551257389615890312L * expl(-x * x);
    EXPECT_LE(std::fabs((erfcl(x) - y) / slope), std::max(std::fabs(x), 0.01L) * 0x1p-50) << y;
    y *= 0.83;
  }
  EXPECT_EQ(__tile_erfcinv(0.0), INFINITY);
  EXPECT_EQ(__tile_erfcinv(2.0), -INFINITY);
  EXPECT_TRUE(std::isnan(__tile_erfcinv(2.5)));
  EXPECT_EQ(__tile_normcdfinv(0.5), 0.0);
  auto scaled = [](Long x) { return expl(x * x) * erfcl(x); };
  EXPECT_LE(worstError(25, __tile_erfcx, scaled), 0x1p-49);
  auto reflected = [](double x) { return __tile_erfcx(-x); };
  EXPECT_LE(worstError(5, reflected, [](Long x) { return expl(x * x) * erfcl(-x); }), 0x1p-49);
}

TEST(MathF64, Exponents) {
  for (double x : {1.0, -3.0, 0.3, 1e-310, 5e-324, 1e308}) {
    EXPECT_EQ(__tile_logb(x), std::logb(x));
    EXPECT_EQ(__tile_ilogb(x), std::ilogb(x));
  }
  EXPECT_EQ(__tile_logb(0.0), -INFINITY);
  EXPECT_EQ(__tile_logb(-INFINITY), INFINITY);
  EXPECT_EQ(__tile_ilogb(INFINITY), 0x7fffffff);
}
