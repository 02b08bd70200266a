//===- rounding.c - rounding, remainders and classification ---------------===//
//
// All exact. A remainder whose quotient is small is one multiplication and a
// fix-up; otherwise the mantissas are divided in integer steps, out of line.
//
//===----------------------------------------------------------------------===//
#include "common.h"

TILE_API float __tile_floorf(float x) { return __builtin_floorf(x); }
TILE_API float __tile_ceilf(float x) { return __builtin_ceilf(x); }
TILE_API float __tile_truncf(float x) { return __builtin_truncf(x); }
TILE_API float __tile_rintf(float x) { return __builtin_rintf(x); }
TILE_API float __tile_nearbyintf(float x) { return __builtin_rintf(x); }
TILE_API float __tile_fabsf(float x) { return absF(x); }
TILE_API float __tile_copysignf(float x, float y) { return __builtin_copysignf(x, y); }
TILE_API float __tile_fmaf(float x, float y, float z) { return fmaF(x, y, z); }
TILE_API float __tile_fminf(float x, float y) { return __builtin_fminf(x, y); }
TILE_API float __tile_fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
TILE_API float __tile_fdimf(float x, float y) { return x <= y ? 0.0f : x - y; }
TILE_API double __tile_floor(double x) { return __builtin_floor(x); }
TILE_API double __tile_ceil(double x) { return __builtin_ceil(x); }
TILE_API double __tile_trunc(double x) { return __builtin_trunc(x); }
TILE_API double __tile_rint(double x) { return __builtin_rint(x); }
TILE_API double __tile_nearbyint(double x) { return __builtin_rint(x); }
TILE_API double __tile_fabs(double x) { return absD(x); }
TILE_API double __tile_copysign(double x, double y) { return __builtin_copysign(x, y); }
TILE_API double __tile_fma(double x, double y, double z) { return fmaD(x, y, z); }
TILE_API double __tile_fmin(double x, double y) { return __builtin_fmin(x, y); }
TILE_API double __tile_fmax(double x, double y) { return __builtin_fmax(x, y); }
TILE_API double __tile_fdim(double x, double y) { return x <= y ? 0.0 : x - y; }

/// Halves away from zero. The addend is the float below one half: with one half
/// itself, the sum would round up for the largest x below it.
TILE_API float __tile_roundf(float x) {
  return __builtin_copysignf(__builtin_truncf(absF(x) + 0x1.fffffep-2f), x);
}
TILE_API double __tile_round(double x) {
  return __builtin_copysign(__builtin_trunc(absD(x) + 0x1.fffffffffffffp-2), x);
}

TILE_API i32 __tile_isnanf(float x) { return x != x; }
TILE_API i32 __tile_isinff(float x) { return absF(x) == TILE_INF_F; }
TILE_API i32 __tile_finitef(float x) { return absF(x) < TILE_INF_F; }
TILE_API i32 __tile_signbitf(float x) { return (i32)(bitsF(x) >> 31); }
TILE_API i32 __tile_isnand(double x) { return x != x; }
TILE_API i32 __tile_isinfd(double x) { return absD(x) == TILE_INF; }
TILE_API i32 __tile_isfinited(double x) { return absD(x) < TILE_INF; }
TILE_API i32 __tile_signbitd(double x) { return (i32)(bits(x) >> 63); }

/// x * 2^n for any n. Three steps reach from the largest float to the smallest;
/// only the last can round.
TILE_API float __tile_ldexpf(float x, i32 n) {
  n = n < -300 ? -300 : n > 300 ? 300 : n;
  i32 third = n / 3;
  return x * pow2iF(n - 2 * third) * pow2iF(third) * pow2iF(third);
}
TILE_API double __tile_ldexp(double x, i32 n) {
  n = n < -2200 ? -2200 : n > 2200 ? 2200 : n;
  i32 third = n / 3;
  return x * pow2i(n - 2 * third) * pow2i(third) * pow2i(third);
}
TILE_API float __tile_scalbnf(float x, i32 n) { return __tile_ldexpf(x, n); }
TILE_API double __tile_scalbn(double x, i32 n) { return __tile_ldexp(x, n); }

/// |x| mod |y| by long division of the mantissas; x and y finite, y not zero.
TILE_SLOW float modByStepsF(float x, float y) {
  u32 a = bitsF(x), b = bitsF(y);
  i32 ea = (i32)(a >> 23), eb = (i32)(b >> 23);
  u32 ma = ea ? (a & 0x7fffffu) | 0x800000u : a;
  u32 mb = eb ? (b & 0x7fffffu) | 0x800000u : b;
  i32 e = eb ? eb : 1;
  u32 r = ma % mb;
  for (i32 left = (ea ? ea : 1) - e; left > 0 && r; left -= 8)
    r = (r << (left < 8 ? left : 8)) % mb;
  // r * 2^(e - 150), which is exact: r < 2^24.
  return __tile_ldexpf((float)r, e - 150);
}

TILE_SLOW double modBySteps(double x, double y) {
  u64 a = bits(x), b = bits(y);
  i32 ea = (i32)(a >> 52), eb = (i32)(b >> 52);
  u64 ma = ea ? (a & 0xfffffffffffffull) | 0x10000000000000ull : a;
  u64 mb = eb ? (b & 0xfffffffffffffull) | 0x10000000000000ull : b;
  i32 e = eb ? eb : 1;
  u64 r = ma % mb;
  for (i32 left = (ea ? ea : 1) - e; left > 0 && r; left -= 11)
    r = (r << (left < 11 ? left : 11)) % mb;
  return __tile_ldexp((double)r, e - 1075);
}

/// x mod y for x, y >= 0.
TILE_INLINE float modPositiveF(float x, float y) {
  if (x < y)
    return x;
  // With the quotient (below 2^20) rounded to nearest, possibly across a tie, the
  // fused remainder and the correction are exact: neither exceeds y.
  if (__builtin_expect(y >= 0x1p-90f && y < 0x1p120f && x * 0x1p-20f < y, 1)) {
    float q = __builtin_rintf(x * rcpApproxFtzF(y));
    float r = fmaF(-q, y, x);
    return r < 0.0f ? r + y : r;
  }
  if (!(x < TILE_INF_F) || y == 0.0f || y != y)
    return TILE_NAN_F;
  return y == TILE_INF_F ? x : modByStepsF(x, y);
}

TILE_INLINE double modPositive(double x, double y) {
  if (x < y)
    return x;
  if (__builtin_expect(y >= 0x1p-900 && y < 0x1p1000 && x * 0x1p-50 < y, 1)) {
    double q = __builtin_rint(quickDivide(x, y));
    double r = fmaD(-q, y, x);
    return r < 0.0 ? r + y : r;
  }
  if (!(x < TILE_INF) || y == 0.0 || y != y)
    return TILE_NAN;
  return y == TILE_INF ? x : modBySteps(x, y);
}

/// Exact; the result has the sign of x, as C and the language's `%` on floats.
TILE_API float __tile_fmodf(float x, float y) {
  return withSignF(modPositiveF(absF(x), absF(y)), x);
}
TILE_API double __tile_fmod(double x, double y) {
  return withSign(modPositive(absD(x), absD(y)), x);
}

/// Exact; the nearest multiple of y subtracted, ties to the even quotient.
TILE_API float __tile_remainderf(float x, float y) {
  float a = absF(x), b = absF(y);
  // Modulo 2y: what is left shows whether the quotient was odd.
  float r = b < 0x1p127f ? modPositiveF(a, b + b) : a;
  r = a < TILE_INF_F ? r : TILE_NAN_F;
  if (b < 0x1p-124f) { // where half of b may not be exact
    u32 above = r + r > b;
    r = above ? r - b : r;
    r = above && r + r >= b ? r - b : r;
  } else {
    float half = b * 0.5f;
    u32 above = r > half;
    r = above ? r - b : r;
    r = above && r >= half ? r - b : r;
  }
  r = b == b && b != 0.0f ? r : TILE_NAN_F;
  return fromBitsF(bitsF(r) ^ (bitsF(x) & 0x80000000u));
}
TILE_API double __tile_remainder(double x, double y) {
  double a = absD(x), b = absD(y);
  double r = b < 0x1p1023 ? modPositive(a, b + b) : a;
  r = a < TILE_INF ? r : TILE_NAN;
  if (b < 0x1p-1020) {
    u32 above = r + r > b;
    r = above ? r - b : r;
    r = above && r + r >= b ? r - b : r;
  } else {
    double half = b * 0.5;
    u32 above = r > half;
    r = above ? r - b : r;
    r = above && r >= half ? r - b : r;
  }
  r = b == b && b != 0.0 ? r : TILE_NAN;
  return fromBits(bits(r) ^ (bits(x) & 0x8000000000000000ull));
}

/// The exponent of a finite x that is not zero.
TILE_INLINE i32 exponentOf(double x) {
  double a = absD(x);
  i32 low = a < 0x1p-1022 ? 54 : 0;
  return (i32)(highWord(low ? a * 0x1p54 : a) >> 20) - 1023 - low;
}

TILE_API double __tile_logb(double x) {
  double y = x == 0.0 ? -TILE_INF : (double)exponentOf(x);
  return absD(x) < TILE_INF ? y : x * x;
}
TILE_API float __tile_logbf(float x) { return (float)__tile_logb((double)x); }
/// The largest integer for infinity, the smallest for zero and NaN.
TILE_API i32 __tile_ilogb(double x) {
  i32 none = absD(x) == TILE_INF ? 0x7fffffff : -0x7fffffff - 1;
  return absD(x) < TILE_INF && x != 0.0 ? exponentOf(x) : none;
}
TILE_API i32 __tile_ilogbf(float x) { return __tile_ilogb((double)x); }
