//===- erfinv.c - inverse error functions and the normal distribution -----===//
//
// erfinv(x) / x is smooth in w = -ln(1 - x^2): one polynomial in w while that is
// small, one in its root beyond. f64 takes them as a start for one Halley step.
//
//===----------------------------------------------------------------------===//
#include "common.h"

TILE_INLINE float erfinvCentralF(float w) {
  return POLYNOMIAL_F(w - 2.5f, 0x1.805c5ep+0f, 0x1.f91edp-3f, -0x1.11c8dp-8f, -0x1.48aa16p-10f,
                      0x1.ca4674p-13f, -0x1.258676p-18f, -0x1.d67ba6p-19f, 0x1.6dbfeep-22f,
                      0x1.c58e3ep-26f);
}

/// 5 ulp.
TILE_API float __tile_erfinvf(float x) {
  float w = -__tile_logf(fmaF(-x, x, 1.0f));
  float tail = POLYNOMIAL_F(sqrtRnF(w) - 3.0f, 0x1.6a9efcp+1f, 0x1.006dc6p+0f, 0x1.357d86p-7f,
                            -0x1.f483a8p-8f, 0x1.74df3ep-8f, -0x1.d7e702p-9f, 0x1.83d242p-10f,
                            -0x1.9c8a1ep-15f, -0x1.40c478p-12f, 0x1.d0c772p-14f);
  float y = x * (w < 5.0f ? erfinvCentralF(w) : tail);
  return absF(x) == 1.0f ? withSignF(TILE_INF_F, x) : y; // beyond 1, w is NaN
}

/// 4 ulp.
TILE_API double __tile_erfinv(double x) {
  double a = absD(x);
  double w = -__tile_log(fmaD(-a, a, 1.0));
  float root = sqrtRnF((float)w);
  float tail = POLYNOMIAL_F(root - 4.0f, 0x1.eb7dfp+1f, 0x1.026f92p+0f, 0x1.54c17ep-10f,
                            -0x1.f04c86p-11f, 0x1.007ecap-12f, -0x1.998334p-16f, 0x1.92de82p-14f,
                            -0x1.4dc962p-14f, 0x1.1ed1bap-16f);
  double y = a * (w < 5.0 ? erfinvCentralF((float)w) : tail);
  double error = a < 0.5 ? __tile_erf(y) - a : (1.0 - a) - __tile_erfc(y);
  double u = error * 0x1.c5bf891b4ef6bp-1 * __tile_exp(y * y); // over the derivative
  y -= u / fmaD(y, u, 1.0);
  y = a < 0x1p-30 ? a * 0x1.c5bf891b4ef6bp-1 : y;
  y = a == 1.0 ? TILE_INF : y;
  return withSign(a <= 1.0 ? y : TILE_NAN, x);
}

/// The normal distribution function, erfc(z) / 2 with z = -x / sqrt(2). The tail
/// of z changes erfc by the factor 1 - 2 z zLow, which matters far out only.
TILE_API float __tile_normcdff(float x) {
  float c = __builtin_fmaxf(x, -20.0f);
  PairF z = exactProductF(c, -0x1.6a09e6p-1f);
  z.lo = fmaF(c, -0x1.9fcef4p-27f, z.lo);
  float y = 0.5f * __tile_erfcf(z.hi);
  y = z.hi > 1.0f ? fmaF(y, -2.0f * z.hi * z.lo, y) : y;
  return x == x ? y : x;
}
TILE_API double __tile_normcdf(double x) {
  double c = __builtin_fmax(x, -60.0);
  Pair z = exactProduct(c, -0x1.6a09e667f3bcdp-1);
  z.lo = fmaD(c, 0x1.bdd3413b26456p-55, z.lo);
  double y = 0.5 * __tile_erfc(z.hi);
  y = z.hi > 1.0 ? fmaD(y, -2.0 * z.hi * z.lo, y) : y;
  return x == x ? y : x;
}

/// erfc(x) / exp(-x^2), x >= 0: the series in 1 / x^2 where that is small.
TILE_INLINE double scaledErfc(double x) {
  double r = quickDivide(1.0, __builtin_fmin(__builtin_fmax(x, 1.0), 0x1p500)), s = 0.5 * r * r;
  double tail = 1.0, term = 1.0;
#pragma clang loop unroll(disable)
  for (i32 k = 1; k < 18; ++k) {
    term *= -(double)(2 * k - 1) * s;
    tail += term;
  }
  Pair square = exactProduct(x, x);
  double near = __tile_erfc(x) * expOfPair(square, 0);
  return x < 10.0 ? near : tail * r * 0x1.20dd750429b6dp-1;
}

TILE_SLOW double erfcxOf(double x) {
  double y = scaledErfc(absD(x));
  Pair square = exactProduct(x, x);
  double reflected = x < -27.0 ? TILE_INF : 2.0 * expOfPair(square, 0) - y;
  y = x < 0.0 ? reflected : y;
  y = x == TILE_INF ? 0.0 : y;
  return x == x ? y : x;
}

/// The x with erfc(x) = y. Up to 1/2 by Newton's method on the logarithm, which
/// sees neither underflow nor cancellation; beyond as erfinv(1 - y).
TILE_SLOW double erfcinvOf(double y) {
  if (!(y > 0.0 && y < 2.0))
    return y == 0.0 ? TILE_INF : y == 2.0 ? -TILE_INF : TILE_NAN;
  double small = y < 1.0 ? y : 2.0 - y; // exact
  if (small >= 0.5)
    return __tile_erfinv(1.0 - y);
  double l = -__tile_log(small);
  double x = sqrtRn(l - 0.5 * __tile_log(l * 0x1.921fb54442d18p+1) * (l > 2.0 ? 1.0 : 0.0));
#pragma clang loop unroll(disable)
  for (i32 i = 0; i < 6; ++i) {
    double e = scaledErfc(x);
    Pair square = exactProduct(x, x);
    double error = ((l - square.hi) - square.lo) + __tile_log(e);
    x = fmaD(error * e, 0x1.c5bf891b4ef6bp-1, x);
  }
  return y < 1.0 ? x : -x;
}

TILE_API double __tile_erfcx(double x) { return erfcxOf(x); }
TILE_API float __tile_erfcxf(float x) { return (float)erfcxOf((double)x); }
TILE_API double __tile_erfcinv(double x) { return erfcinvOf(x); }
TILE_API float __tile_erfcinvf(float x) { return (float)erfcinvOf((double)x); }

/// The upper half of 1 / x, about 20 bits; the lower is zero.
TILE_API double __tile_rcp64h(double x) { return rcpApproxFtz(x); }

/// The normal quantile: the x with normcdf(x) = p.
TILE_API double __tile_normcdfinv(double p) { return -0x1.6a09e667f3bcdp+0 * erfcinvOf(2.0 * p); }
TILE_API float __tile_normcdfinvf(float p) { return (float)__tile_normcdfinv((double)p); }
