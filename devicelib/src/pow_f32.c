//===- pow_f32.c - powers of f32 ------------------------------------------===//
//
// x^y = e^(y * ln x) with ln x in two floats, good to about 2^-30: the product
// may be as large as 88, and its error becomes relative error of the result.
//
//===----------------------------------------------------------------------===//
#include "common.h"

/// ln x for positive finite x.
TILE_INLINE PairF logPairF(float x) {
  LogSplitF split = splitForLogF(x, PIVOT_SQRT_1_2);
  float f = split.f;
  // s = 2f / (2 + f) and what is missing of it; ln(1 + f) = s + s^3 * (1/12 + s^2 * ...). The
  // second term is a hundredth of the first at most, so that one float is enough for it.
  float r = rcpApproxFtzF(f + 2.0f);
  float s = (f + f) * r;
  float difference = f - s;
  float sLow = fmaF(-s, f, difference + difference) * r;
  float u = s * s;
  float tail = u * POLYNOMIAL_F(u, 0x1.555556p-4f, 0x1.9999ecp-7f, 0x1.245c1ep-9f, 0x1.ddd6c2p-12f);
  float low = fmaF(s, tail, sLow);
  // exponent * ln 2; the first piece of ln 2 has room for an exact product.
  PairF sum = quickSumF(split.exponent * 0x1.62e4p-1f, s);
  return quickSumF(sum.hi, fmaF(split.exponent, 0x1.7f7d1cp-20f, sum.lo + low));
}

/// e^(x.hi + x.lo).
TILE_INLINE float expOfPairF(PairF x) {
  float shifted = clampF(x.hi * LOG2E_HI, -151.0f, 129.0f) + ROUND_MAGIC_F;
  float f = fmaF(x.hi, LOG2E_HI, -(shifted - ROUND_MAGIC_F));
  f = fmaF(x.lo, LOG2E_HI, fmaF(x.hi, LOG2E_LO, f));
  return scaleF(ex2ApproxFtzF(f), (i32)(bitsF(shifted) - bitsF(ROUND_MAGIC_F)));
}

/// 2.5 ulp.
TILE_API float __tile_powf(float x, float y) {
  float a = absF(x);
  u32 integer = __builtin_truncf(y) == y;
  u32 odd = absF(fmaF(__builtin_truncf(y * 0.5f), -2.0f, y)) == 1.0f;
  PairF l = logPairF(a);
  l.hi = ((x < 0.0f) & !integer) ? TILE_NAN_F : l.hi;
  l.hi = a < TILE_INF_F ? l.hi : a;
  l.hi = a == 0.0f ? -TILE_INF_F : l.hi;
  PairF p = exactProductF(y, l.hi);
  p.lo = absF(p.hi) < 256.0f ? fmaF(y, l.lo, p.lo) : 0.0f;
  float z = expOfPairF(p);
  z = odd ? fromBitsF(bitsF(z) ^ (bitsF(x) & 0x80000000u)) : z;
  u32 one = (x == 1.0f) | (y == 0.0f) | ((x == -1.0f) & (absF(y) == TILE_INF_F));
  return one ? 1.0f : z;
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
