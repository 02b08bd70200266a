//===- hyperbolic.c - hyperbolic functions and their inverses -------------===//
//
// From exponentials halved before they can overflow, and from log1p. tanh is
// with the functions that kernels use most.
//
//===----------------------------------------------------------------------===//
#include "common.h"

/// 2 ulp.
TILE_API float __tile_sinhf(float x) {
  float a = absF(x), s = x * x;
  float small = fmaF(
      POLYNOMIAL_F(s, 0x1.555556p-3f, 0x1.1110ep-7f, 0x1.a022bap-13f, 0x1.756cbp-19f) * s, a, a);
  float half = expBaseF(a, LOG2E_HI, LOG2E_LO, -1); // e^a / 2
  float large = fmaF(rcpApproxFtzF(half), -0.25f, half);
  return withSignF(a >= 1.0f ? large : small, x);
}

/// 2 ulp.
TILE_API float __tile_coshf(float x) {
  float half = expBaseF(absF(x), LOG2E_HI, LOG2E_LO, -1);
  return fmaF(rcpApproxFtzF(half), 0.25f, half);
}

/// 2 ulp.
TILE_API double __tile_sinh(double x) {
  double a = absD(x), s = x * x;
  double small =
      fmaD(POLYNOMIAL(s, 0x1.5555555555555p-3, 0x1.111111111119bp-7, 0x1.a01a01a00735p-13,
                      0x1.71de3a68d1de1p-19, 0x1.ae64411f93bb8p-26, 0x1.61314fe2a28a4p-33,
                      0x1.a663413557cd1p-41, 0x1.d2ef58fdb59efp-48) *
               s,
           a, a);
  double half = expScaled(a, -1);
  double large = half - quickDivide(0.25, __builtin_fmin(half, 0x1p100));
  return withSign(a >= 1.0 ? large : small, x);
}

/// 2 ulp.
TILE_API double __tile_cosh(double x) {
  double half = expScaled(absD(x), -1);
  return half + quickDivide(0.25, __builtin_fmin(half, 0x1p100));
}

/// 3 ulp: log1p(a + a^2 / (1 + sqrt(1 + a^2))); for large a, ln(2a).
TILE_API float __tile_asinhf(float x) {
  float a = absF(x), m = __builtin_fminf(a, 0x1p30f);
  float y = __tile_log1pf(fmaF(m, m / (1.0f + sqrtRnF(fmaF(m, m, 1.0f))), m));
  y = !(a <= 0x1p30f) ? __tile_logf(a) + LN2_HI : y;
  return withSignF(y, x);
}
TILE_API double __tile_asinh(double x) {
  double a = absD(x), m = __builtin_fmin(a, 0x1p60);
  double y = __tile_log1p(fmaD(m, m / (1.0 + sqrtRn(fmaD(m, m, 1.0))), m));
  y = !(a <= 0x1p60) ? __tile_log(a) + D_LN2_HI : y;
  return withSign(y, x);
}

/// 3 ulp: log1p(t + sqrt(2t + t^2)), t = x - 1.
TILE_API float __tile_acoshf(float x) {
  float t = __builtin_fminf(x, 0x1p30f) - 1.0f;
  float y = __tile_log1pf(t + sqrtRnF(fmaF(t, t, t + t)));
  y = x > 0x1p30f ? __tile_logf(x) + LN2_HI : y;
  return x >= 1.0f ? y : TILE_NAN_F;
}
TILE_API double __tile_acosh(double x) {
  double t = __builtin_fmin(x, 0x1p60) - 1.0;
  double y = __tile_log1p(t + sqrtRn(fmaD(t, t, t + t)));
  y = x > 0x1p60 ? __tile_log(x) + D_LN2_HI : y;
  return x >= 1.0 ? y : TILE_NAN;
}

/// 3 ulp: log1p(2a / (1 - a)) / 2.
TILE_API float __tile_atanhf(float x) {
  float a = absF(x);
  float y = 0.5f * __tile_log1pf((a + a) / (1.0f - a));
  y = a < 0x1p-12f ? a : y;
  return withSignF(a <= 1.0f ? y : TILE_NAN_F, x);
}
TILE_API double __tile_atanh(double x) {
  double a = absD(x);
  double y = 0.5 * __tile_log1p((a + a) / (1.0 - a));
  y = a < 0x1p-27 ? a : y;
  return withSign(a <= 1.0 ? y : TILE_NAN, x);
}

/// sqrt(x^2 + y^2) without overflow, 1 ulp: both are scaled by a power of two
/// that brings the larger next to one.
TILE_API float __tile_hypotf(float x, float y) {
  float a = __builtin_fmaxf(absF(x), absF(y)), b = __builtin_fminf(absF(x), absF(y));
  i32 e = (i32)(bitsF(a) >> 23) - 127;
  e = e < -126 ? -126 : e > 126 ? 126 : e;
  float down = pow2iF(-e);
  float sa = a * down, sb = b * down;
  float r = sqrtRnF(fmaF(sa, sa, sb * sb)) * pow2iF(e);
  r = x == x && y == y ? r : TILE_NAN_F;
  return absF(x) == TILE_INF_F || absF(y) == TILE_INF_F ? TILE_INF_F : r;
}
TILE_API double __tile_hypot(double x, double y) {
  double a = __builtin_fmax(absD(x), absD(y)), b = __builtin_fmin(absD(x), absD(y));
  i32 e = (i32)(bits(a) >> 52) - 1023;
  e = e < -1022 ? -1022 : e > 1022 ? 1022 : e;
  double down = pow2i(-e);
  double sa = a * down, sb = b * down;
  double r = sqrtRn(fmaD(sa, sa, sb * sb)) * pow2i(e);
  r = x == x && y == y ? r : TILE_NAN;
  return absD(x) == TILE_INF || absD(y) == TILE_INF ? TILE_INF : r;
}
