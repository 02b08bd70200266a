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
float __tile_erff(float);
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
}

TEST(MathF32, Others) {
  expectWithin("tanh", __tile_tanhf, [](double x) { return std::tanh(x); }, 1.9, 2.6);
  expectWithin("erf", __tile_erff, [](double x) { return std::erf(x); }, 1.1, 1.7);
}
