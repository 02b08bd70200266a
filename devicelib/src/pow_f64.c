//===- pow_f64.c - powers of f64 ------------------------------------------===//
//
// As pow_f32.c; ln x in two doubles is good to about 2^-65.
//
//===----------------------------------------------------------------------===//
#include "common.h"

/// ln x for positive finite x.
TILE_INLINE Pair logPair(double x) {
  LogSplit split = splitForLog(x, D_PIVOT_SQRT_1_2);
  double f = split.f;
  Pair d = quickSum(2.0, f);
  double s = quickDivide(f, d.hi);
  double sLow = fmaD(-s, d.lo, fmaD(-s, d.hi, f)) * rcpApproxFtz(d.hi);
  Pair t = exactProduct(s, s);
  t.lo = fmaD(s + s, sLow, t.lo);
  double u = t.hi * POLYNOMIAL(t.hi, 0x1.9999999999996p-2, 0x1.2492492492f5p-2,
                               0x1.c71c71c596b8fp-3, 0x1.745d1829417e6p-3, 0x1.3b1364ceb127ap-3,
                               0x1.11206e6f7ca68p-3, 0x1.de3d8b4aff1c9p-4, 0x1.eac4ffc031a4p-4);
  Pair p = quickSum(0x1.5555555555555p-1, u);
  p.lo += 0x1.5555555555555p-55;
  Pair q = exactProduct(t.hi, p.hi);
  q.lo += fmaD(t.hi, p.lo, t.lo * p.hi);
  Pair v = exactProduct(s, q.hi);
  v.lo += fmaD(s, q.lo, sLow * q.hi);
  Pair m = quickSum(s + s, v.hi);
  Pair sum = quickSum(split.exponent * 0x1.62e42fefa38p-1, m.hi);
  double low = fmaD(split.exponent, 0x1.ef35793c7673p-45, sum.lo + (m.lo + (v.lo + (sLow + sLow))));
  return quickSum(sum.hi, low);
}

/// 1.1 ulp.
TILE_API double __tile_pow(double x, double y) {
  double a = absD(x);
  Pair l = logPair(a);
  l.hi = a < TILE_INF ? l.hi : a;
  l.hi = a == 0.0 ? -TILE_INF : l.hi;
  Pair p = exactProduct(y, l.hi);
  p.lo = absD(p.hi) < 1024.0 ? fmaD(y, l.lo, p.lo) : 0.0;
  double z = expOfPair(p, 0);
  u32 integer = __builtin_trunc(y) == y;
  u32 odd = integer && absD(y) < 0x1p53 && __builtin_trunc(y * 0.5) * 2.0 != y;
  z = x < 0.0 && !integer && absD(x) < TILE_INF ? TILE_NAN : z;
  z = odd ? fromBits(bits(z) ^ (bits(x) & 0x8000000000000000ull)) : z;
  z = x == -1.0 && absD(y) == TILE_INF ? 1.0 : z;
  return x == 1.0 || y == 0.0 ? 1.0 : z;
}

/// 1 ulp: the f32 estimate of the mantissa's root, two Newton steps.
TILE_API double __tile_cbrt(double x) {
  double a = absD(x);
  u32 tiny = a < 0x1p-1022;
  double scaled = tiny ? a * 0x1p54 : a;
  // scaled = m * 2^(3k), m in [1, 8).
  i32 exponent = (i32)(bits(scaled) >> 52) - 1023 + 3072;
  i32 k = exponent / 3;
  double m = fromBits((bits(scaled) & 0xfffffffffffffull) | ((u64)(1023 + exponent - 3 * k) << 52));
  double y = ex2ApproxFtzF(lg2ApproxFtzF((float)m) * 0x1.555556p-2f);
  for (i32 i = 0; i < 2; ++i) {
    double square = y * y;
    y = fmaD(quickDivide(fmaD(-square, y, m), square), 0x1.5555555555555p-2, y);
  }
  y *= pow2i(k - 1024 - (tiny ? 18 : 0));
  y = a < TILE_INF && a != 0.0 ? y : a;
  return withSign(y, x);
}
