//===- MathF64Test.cpp - error of every f64 device function ---------------===//
#include "MathCheck.h"

using namespace tile::test;

extern "C" {
double __tile_exp2(double), __tile_exp(double), __tile_exp10(double), __tile_expm1(double);
double __tile_log(double), __tile_log2(double), __tile_log10(double), __tile_log1p(double);
double __tile_sin(double), __tile_cos(double), __tile_tanh(double), __tile_erf(double);
double __tile_rsqrt(double);
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
}

TEST(MathF64, Others) {
  expectWithin64("tanh", __tile_tanh, [](Long x) { return tanhl(x); }, 2.0, 4);
  expectWithin64("erf", __tile_erf, [](Long x) { return erfl(x); }, 1.1, 6);
  expectWithin64("rsqrt", __tile_rsqrt, [](Long x) { return 1.0L / sqrtl(x); }, 1.5, 6);
}
