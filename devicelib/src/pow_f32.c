//===- pow_f32.c - powers of f32 ------------------------------------------===//
//
// x^y = e^(y * ln x) with ln x in two floats, good to about 2^-35: the product
// may be as large as 88, and its error becomes relative error of the result.
//
//===----------------------------------------------------------------------===//
#include "common.h"

/// ln x for positive finite x.
TILE_INLINE PairF logPairF(float x) {
  LogSplitF split = splitForLogF(x, PIVOT_SQRT_1_2);
  float f = split.f;
  // s = f / (2 + f); ln(1 + f) = 2s + s * q, q = s^2 * (2/3 + s^2 * ...).
  PairF d = quickSumF(2.0f, f);
  float r = rcpApproxFtzF(d.hi);
  float s = f * r;
  s = fmaF(fmaF(-s, d.hi, f), r, s);
  float sLow = fmaF(-s, d.lo, fmaF(-s, d.hi, f)) * r;
  PairF t = exactProductF(s, s);
  t.lo = fmaF(s + s, sLow, t.lo);
  float u = t.hi * POLYNOMIAL_F(t.hi, 0x1.999ap-2f, 0x1.245278p-2f, 0x1.dfa3b8p-3f);
  PairF p = quickSumF(0x1.555556p-1f, u);
  p.lo += -0x1.555556p-26f;
  PairF q = exactProductF(t.hi, p.hi);
  q.lo += fmaF(t.hi, p.lo, t.lo * p.hi);
  PairF v = exactProductF(s, q.hi);
  v.lo += fmaF(s, q.lo, sLow * q.hi);
  PairF m = quickSumF(s + s, v.hi);
  // exponent * ln 2; the first piece of ln 2 has room for an exact product.
  PairF sum = quickSumF(split.exponent * 0x1.62e4p-1f, m.hi);
  float low = fmaF(split.exponent, 0x1.7f7d1cp-20f, sum.lo + (m.lo + (v.lo + (sLow + sLow))));
  return quickSumF(sum.hi, low);
}

/// e^(x.hi + x.lo).
TILE_INLINE float expOfPairF(PairF x) {
  float shifted = clampF(x.hi * LOG2E_HI, -151.0f, 129.0f) + ROUND_MAGIC_F;
  float f = fmaF(x.hi, LOG2E_HI, -(shifted - ROUND_MAGIC_F));
  f = fmaF(x.lo, LOG2E_HI, fmaF(x.hi, LOG2E_LO, f));
  return scaleF(ex2ApproxFtzF(f), (i32)(bitsF(shifted) - bitsF(ROUND_MAGIC_F)));
}

/// 3 ulp.
TILE_API float __tile_powf(float x, float y) {
  float a = absF(x);
  PairF l = logPairF(a);
  l.hi = a < TILE_INF_F ? l.hi : a;
  l.hi = a == 0.0f ? -TILE_INF_F : l.hi;
  PairF p = exactProductF(y, l.hi);
  p.lo = absF(p.hi) < 256.0f ? fmaF(y, l.lo, p.lo) : 0.0f;
  float z = expOfPairF(p);
  u32 integer = __builtin_truncf(y) == y;
  u32 odd = integer && absF(y) < 0x1p24f && __builtin_truncf(y * 0.5f) * 2.0f != y;
  z = x < 0.0f && !integer && absF(x) < TILE_INF_F ? TILE_NAN_F : z;
  z = odd ? fromBitsF(bitsF(z) ^ (bitsF(x) & 0x80000000u)) : z;
  z = x == -1.0f && absF(y) == TILE_INF_F ? 1.0f : z;
  return x == 1.0f || y == 0.0f ? 1.0f : z;
}

/// Correctly signed; 1 ulp. The hardware's logarithm and exponential give 20
/// bits, one Newton step the rest.
TILE_API float __tile_cbrtf(float x) {
  float a = absF(x);
  u32 tiny = a < 0x1p-126f;
  float m = tiny ? a * 0x1p24f : a;
  float y = ex2ApproxFtzF(lg2ApproxFtzF(m) * 0x1.555556p-2f);
  float square = y * y;
  y = fmaF(fmaF(-square, y, m) * rcpApproxFtzF(square), 0x1.555556p-2f, y);
  y = tiny ? y * 0x1p-8f : y;
  y = a < TILE_INF_F && a != 0.0f ? y : a;
  return withSignF(y, x);
}
