//===- exp_log_f32.c - exponentials and logarithms of f32 -----------------===//
//
// exp: split x = k*ln2 + f, let ex2.approx do 2^f, scale by 2^k in two exact
// steps. log: split x = 2^e * m with m in [2/3, 4/3) by integer arithmetic on
// the bits, then a polynomial in m - 1. No branches anywhere.
//
//===----------------------------------------------------------------------===//
#include "common.h"

#define LOG2E_HI 0x1.715476p+0f
#define LOG2E_LO 0x1.4ae0cp-26f
#define LN2_HI 0x1.62e43p-1f
#define LN2_LO -0x1.05c61p-29f
/// Adding this rounds to an integer and leaves it in the low bits.
#define ROUND_MAGIC_F 0x1.8p23f

/// 2^k for k in [-126, 127].
TILE_INLINE float pow2iF(i32 k) { return fromBitsF((u32)(k + 127) << 23); }

/// y * 2^k for k in [-252, 254], rounding at most once more (a denormal result).
TILE_INLINE float scaleF(float y, i32 k) {
  i32 half = k >> 1;
  return y * pow2iF(half) * pow2iF(k - half);
}

TILE_INLINE float clampF(float x, float low, float high) {
  return __builtin_fminf(__builtin_fmaxf(x, low), high);
}

/// The hardware's 2^x: 2 ulp; denormal inputs and results are zero.
TILE_API float __tile_exp2f(float x) { return ex2ApproxFtzF(x); }

/// e^x as one multiplication and ex2.approx: relative error
/// 2^-22 + |x| * 2^-24.4, i.e. 2 ulp near zero and about 64 ulp at the ends.
TILE_API float __tile_fast_expf(float x) { return ex2ApproxF(x * LOG2E_HI); }

/// base^x * 2^extra from `hi + lo` = log2(base).
TILE_INLINE float expBaseF(float x, float hi, float lo, i32 extra) {
  float shifted = clampF(x * hi, -151.0f, 129.0f) + ROUND_MAGIC_F;
  float k = shifted - ROUND_MAGIC_F;
  float f = fmaF(x, lo, fmaF(x, hi, -k));
  // An infinite or huge x leaves f as large, which ex2 turns into 0 or infinity.
  return scaleF(ex2ApproxFtzF(f), (i32)(bitsF(shifted) - bitsF(ROUND_MAGIC_F)) + extra);
}

/// 2 ulp (3 in the denormal range).
TILE_API float __tile_expf(float x) { return expBaseF(x, LOG2E_HI, LOG2E_LO, 0); }
TILE_API float __tile_exp10f(float x) { return expBaseF(x, 0x1.a934fp+1f, 0x1.2f346ep-24f, 0); }

/// x = 2^exponent * (1 + f) with 1 + f in [pivot, 2 * pivot); x positive, finite.
/// ln takes 2/3, which makes |f| smallest; for the others sqrt(1/2) is better:
/// no value of theirs then comes from a whole exponent minus something larger
/// than one half.
typedef struct {
  float exponent, f;
} LogSplitF;

#define PIVOT_2_3 0x3f2aaaabu
#define PIVOT_SQRT_1_2 0x3f3504f3u

TILE_INLINE LogSplitF splitForLogF(float x, u32 pivot) {
  u32 tiny = x < 0x1p-126f;
  u32 b = bitsF(tiny ? x * 0x1p23f : x);
  u32 e = (b - pivot) & 0xff800000u;
  LogSplitF s;
  s.exponent = fmaF((float)(i32)e, 0x1p-23f, tiny ? -23.0f : 0.0f);
  s.f = fromBitsF(b - e) - 1.0f;
  return s;
}

/// What a logarithm that came out as y is for the x that have none.
TILE_INLINE float logSpecialF(float x, float y) {
  // Of +inf and NaN themselves; of what is negative, NaN: one comparison for all of them.
  y = bitsF(x) < 0x7f800000u ? y : fmaF(x, TILE_INF_F, TILE_INF_F);
  return x == 0.0f ? -TILE_INF_F : y;
}

/// (ln(1 + f) - f + f*f/2) / f^3 on [-1/3, 1/3].
TILE_INLINE float log1pTailF(float f) {
  float p = -0x1.0858bap-3f;
  p = fmaF(p, f, 0x1.1e7ea4p-3f);
  p = fmaF(p, f, -0x1.f2f672p-4f);
  p = fmaF(p, f, 0x1.1ed454p-3f);
  p = fmaF(p, f, -0x1.559dbep-3f);
  p = fmaF(p, f, 0x1.99d06ap-3f);
  p = fmaF(p, f, -0x1.ffff02p-3f);
  return fmaF(p, f, 0x1.555506p-2f);
}

/// ln(1 + f), |f| <= 1/3.
TILE_INLINE float log1pSmallF(float f) { return fmaF(f * f, fmaF(log1pTailF(f), f, -0.5f), f); }

/// 1 ulp.
TILE_API float __tile_logf(float x) {
  LogSplitF s = splitForLogF(x, PIVOT_2_3);
  return logSpecialF(x, fmaF(s.exponent, LN2_HI, log1pSmallF(s.f)));
}

/// 1 ulp.
TILE_API float __tile_log2f(float x) {
  LogSplitF s = splitForLogF(x, PIVOT_SQRT_1_2);
  float f = s.f;
  float p = 0x1.86fd42p-4f;
  p = fmaF(p, f, -0x1.5424a2p-3f);
  p = fmaF(p, f, 0x1.5dc892p-3f);
  p = fmaF(p, f, -0x1.6f022ap-3f);
  p = fmaF(p, f, 0x1.a45aeep-3f);
  p = fmaF(p, f, -0x1.ec761ap-3f);
  p = fmaF(p, f, 0x1.277e08p-2f);
  p = fmaF(p, f, -0x1.7154aap-2f);
  p = fmaF(p, f, 0x1.ec708cp-2f);
  p = fmaF(p, f, -0x1.715476p-1f);
  float y = fmaF(f, LOG2E_HI, f * fmaF(p, f, LOG2E_LO));
  return logSpecialF(x, s.exponent + y);
}

/// 1 ulp.
TILE_API float __tile_log10f(float x) {
  LogSplitF s = splitForLogF(x, PIVOT_SQRT_1_2);
  float f = s.f;
  float p = -0x1.091e86p-5f;
  p = fmaF(p, f, 0x1.cac7d8p-5f);
  p = fmaF(p, f, -0x1.d963f4p-5f);
  p = fmaF(p, f, 0x1.f8e2dap-5f);
  p = fmaF(p, f, -0x1.275fcap-4f);
  p = fmaF(p, f, 0x1.63ccdap-4f);
  p = fmaF(p, f, -0x1.bcbf52p-4f);
  p = fmaF(p, f, 0x1.287a7p-3f);
  p = fmaF(p, f, -0x1.bcb7aap-3f);
  float y = fmaF(f, 0x1.bcb7b2p-2f, f * fmaF(p, f, -0x1.5b235ep-27f));
  y = fmaF(s.exponent, -0x1.ec10cp-27f, y);
  return logSpecialF(x, fmaF(s.exponent, 0x1.344136p-2f, y));
}

/// 1.5 ulp. The mantissa of 1 + x is taken from x itself, scaled, so that what
/// rounding 1 + x would lose is kept.
TILE_API float __tile_log1pf(float x) {
  u32 e = (bitsF(1.0f + x) - PIVOT_2_3) & 0xff800000u;
  // f = (1 + x) * 2^-exponent - 1, in quarters: 2^-128 is no normal number.
  float scale = fromBitsF(0x40800000u - e);
  float f = fmaF(x * 0.25f, scale, fmaF(scale, 0.25f, -1.0f));
  float y = fmaF((float)(i32)e, 0x1p-23f * LN2_HI, log1pSmallF(f));
  y = x < TILE_INF_F ? y : x;
  y = x < -1.0f ? TILE_NAN_F : y;
  y = x == -1.0f ? -TILE_INF_F : y;
  return absF(x) < 0x1p-24f ? x : y; // keeps -0 and denormals
}

/// 2 ulp. e^x - 1 = 2^k * (e^r - 1) + (2^k - 1), both terms exact enough.
TILE_API float __tile_expm1f(float x) {
  float c = clampF(x, -20.0f, 88.8f);
  float shifted = c * LOG2E_HI + ROUND_MAGIC_F;
  float k = shifted - ROUND_MAGIC_F;
  float r = fmaF(k, -LN2_LO, fmaF(k, -LN2_HI, c));
  float p = 0x1.6c6a2ep-10f;
  p = fmaF(p, r, 0x1.12296cp-7f);
  p = fmaF(p, r, 0x1.5555bp-5f);
  p = fmaF(p, r, 0x1.5554bp-3f);
  p = fmaF(p, r, 0.5f);
  float q = fmaF(p * r, r, r); // e^r - 1
  // 2^128 is no float: work with half of everything and double at the end.
  float half = pow2iF((i32)(bitsF(shifted) - bitsF(ROUND_MAGIC_F)) - 1);
  float y = fmaF(q, half, half - 0.5f);
  y = y + y;
  y = k == 0.0f ? q : y;
  y = x > 88.73f ? TILE_INF_F : y;
  y = x == x ? y : x;
  return x == 0.0f ? x : y;
}
