//===- gamma.c - gamma functions ------------------------------------------===//
//
// Stirling's series from 10 on, reached by the recurrence; reflection for
// negative arguments; around 2 (and 1, one step away) a polynomial that keeps
// the relative accuracy of the logarithm at its zeros. tgamma of f32 goes
// through f64; the logarithm in f32 takes fewer steps of the same kind.
//
//===----------------------------------------------------------------------===//
#include "common.h"

#define D_HALF_LOG_2PI 0x1.d67f1c864beb5p-1

/// sin(pi x) for any finite x.
TILE_INLINE double sinPi(double x) {
  double n = __builtin_rint(x + x);
  double r = fmaD(n, -0.5, x);
  Pair angle = exactProduct(r, 0x1.921fb54442d18p+1);
  angle.lo = fmaD(r, 0x1.1a62633145c07p-53, angle.lo);
  // n modulo 4 without a conversion that could overflow.
  i32 quadrant = (i32)(n - 4.0 * __builtin_floor(n * 0.25));
  return sinOfQuadrant(angle.hi + angle.lo, quadrant);
}

/// ln gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2) for x >= 10.
TILE_INLINE double stirlingTail(double x) {
  double r = quickDivide(1.0, x), s = r * r;
  return r * POLYNOMIAL(s, 0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11,
                        -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10,
                        0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6);
}

/// gamma(x) * 2^extra for x > 0, x no greater than 200.
TILE_INLINE double gammaPositive(double x, i32 extra) {
  double product = 1.0, steps = 0.0;
  for (; x + steps < 10.0; steps += 1.0)
    product *= x + steps;
  // What rounding x + steps lost comes back through the logarithmic derivative.
  double z = x + steps, lost = x - (z - steps);
  Pair l = logPair(z);
  Pair p = exactProduct(z - 0.5, l.hi);
  p.lo = fmaD(z - 0.5, l.lo, p.lo) + lost * (l.hi - quickDivide(0.5, z));
  Pair sum = quickSum(p.hi, -z);
  sum = quickSum(sum.hi, sum.lo + (p.lo + (stirlingTail(z) + D_HALF_LOG_2PI)));
  return expOfPair(sum, extra) / product;
}

/// 11 ulp.
TILE_API double __tile_tgamma(double x) {
  double a = absD(x), y;
  if (x > 0.0 || x != x) {
    y = x > 172.0 ? TILE_INF : gammaPositive(x, 0);
    return x == x ? (a < 0x1p-60 ? 1.0 / x : y) : x;
  }
  // gamma(x) gamma(-x) = -pi / (x sin(pi x)); the factor 2^-300 lets results
  // beyond the reciprocal of the overflow limit come out as denormals.
  double g = gammaPositive(__builtin_fmin(__builtin_fmax(a, 0x1p-60), 190.0), -300);
  y = -0x1.921fb54442d18p+1 / (x * sinPi(x)) / g;
  y = a < 0x1p-60 ? 1.0 / x : y * 0x1p-300;
  return x != 0.0 && __builtin_floor(x) == x ? TILE_NAN : y;
}

/// ln gamma(2 + t), |t| <= 1/2.
TILE_INLINE double logGammaNearTwo(double t) {
  return t * POLYNOMIAL(t, 0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a557538p-4,
                        0x1.51322ac7d8b45p-6, -0x1.e404fc21e1b33p-8, 0x1.7add6eace1362p-9,
                        -0x1.38ac5bfac70bdp-10, 0x1.0b36afd8f081ep-11, -0x1.d3fd6976b9434p-13,
                        0x1.a12792d8e9ce3p-14, -0x1.78d99baf220e2p-15, 0x1.5810352217fc8p-16,
                        -0x1.3d304bb1c02p-17, 0x1.25963382409dap-18, -0x1.0b6758de57cebp-19,
                        0x1.fab58dd75b55ep-21, -0x1.1e47b0ac23e41p-21, 0x1.1247ddf6e136bp-22,
                        -0x1.b019ddb0a1fc8p-25);
}

/// ln gamma(x), x > 0.
TILE_INLINE double logGammaPositive(double x) {
  if (x >= 10.0) {
    Pair l = logPair(x < TILE_INF ? x : 1.0);
    double tail = stirlingTail(__builtin_fmin(x, 0x1p100)) + D_HALF_LOG_2PI;
    double y = fmaD(x - 0.5, l.hi - 1.0, fmaD(x - 0.5, l.lo, tail - 0.5));
    return x < TILE_INF ? y : x;
  }
  if (x < 0.5)
    return logGammaNearTwo(x) - __tile_log(x) - __tile_log1p(x); // x + 2
  if (x < 1.5)
    return logGammaNearTwo(x - 1.0) - __tile_log1p(x - 1.0); // x + 1
  double product = 1.0;
  while (x > 2.5) {
    x -= 1.0;
    product *= x;
  }
  return logGammaNearTwo(x - 2.0) + __tile_log(product);
}

/// 8 ulp for positive arguments; for negative ones an absolute error of a few
/// ulp of the larger of the result and 1.
TILE_API double __tile_lgamma(double x) {
  double a = absD(x);
  double y = logGammaPositive(a);
  if (x < 0.0) {
    double reflected = -__tile_log(absD(x * sinPi(x)) * 0x1.45f306dc9c883p-2) - y;
    y = __builtin_floor(x) == x ? TILE_INF : reflected;
  }
  y = a == 0.0 ? TILE_INF : y;
  return x == x ? y : x;
}

/// Rounded from f64: 1 ulp.
TILE_API float __tile_tgammaf(float x) { return (float)__tile_tgamma((double)x); }

/// ln gamma(2 + t), |t| <= 1/2.
TILE_INLINE float logGammaNearTwoF(float t) {
  return t * POLYNOMIAL_F(t, 0x1.b0ee60p-2f, 0x1.4a34ccp-2f, -0x1.13dfecp-4f, 0x1.51357ep-6f,
                          -0x1.e42476p-8f, 0x1.795d1ep-9f, -0x1.34c3a6p-10f, 0x1.2ac022p-11f,
                          -0x1.1af592p-12f);
}

/// ln gamma(x), x > 0: without branches, and of one logarithm, since lanes have different
/// arguments.
TILE_INLINE float logGammaPositiveF(float x) {
  // Below 8 gamma(x) = gamma(2 + t) product, or that divided by the product.
  float t = x - 2.0f, product = 1.0f;
  for (i32 i = 0; i < 6; ++i) {
    product = t > 0.5f ? product * (t + 1.0f) : product;
    t = t > 0.5f ? t - 1.0f : t;
  }
  product = x < 0.5f ? fmaF(x, x, x) : x < 1.5f ? x : product;
  t = x < 0.5f ? x : x < 1.5f ? x - 1.0f : t; // one step up, or two
  float logarithm = __tile_logf(x >= 8.0f ? x : product);
  float y = logGammaNearTwoF(t) + (x < 1.5f ? -logarithm : logarithm);
  // (x - 1/2) (ln x - 1) + (ln(2 pi) - 1) / 2 + ...
  float r = rcpApproxFtzF(x), s = r * r;
  float tail = r * POLYNOMIAL_F(s, 0x1.555556p-4f, -0x1.6c16c2p-9f, 0x1.a01a02p-11f);
  float large = fmaF(x - 0.5f, logarithm - 1.0f, tail + 0x1.acfe38p-2f);
  y = x >= 8.0f ? large : y;
  return x < TILE_INF_F ? y : x;
}

/// 6 ulp for positive arguments; for negative ones an absolute error of a few
/// ulp of the larger of the result and 1.
TILE_API float __tile_lgammaf(float x) {
  float a = absF(x);
  float y = logGammaPositiveF(a);
  if (x < 0.0f) {
    // |sin(pi x)|, by how far it is to the next whole number.
    float r = absF(x - __builtin_rintf(x));
    float sine = r <= 0.25f ? sinPolyF(r * 0x1.921fb6p+1f) : cosPolyF((0.5f - r) * 0x1.921fb6p+1f);
    float reflected = -__tile_logf(absF(x) * sine * 0x1.45f306p-2f) - y;
    y = __builtin_floorf(x) == x ? TILE_INF_F : reflected;
  }
  y = a == 0.0f ? TILE_INF_F : y;
  return x == x ? y : x;
}
