//===- exp_log_f64.c - exponentials and logarithms of f64 -----------------===//
//
// The same reductions as for f32, with everything computed: 2^f by a polynomial,
// ln(1 + f) as 2 atanh(f / (2 + f)), whose series is short.
//
//===----------------------------------------------------------------------===//
#include "common.h"

#define D_LOG2E 0x1.71547652b82fep+0
#define D_LOG2E_LO 0x1.777d0ffda0d24p-56
#define D_LN2_HI 0x1.62e42fefa39efp-1
#define D_LN2_LO 0x1.abc9e3b39803fp-56
#define ROUND_MAGIC 0x1.8p52

/// 2^k for k in [-1022, 1023].
TILE_INLINE double pow2i(i32 k) { return fromBits((u64)(u32)(k + 1023) << 52); }

/// y * 2^k for k in [-2044, 2046], rounding at most once more (a denormal result).
TILE_INLINE double scale(double y, i32 k) {
  i32 half = k >> 1;
  return y * pow2i(half) * pow2i(k - half);
}

TILE_INLINE double clamp(double x, double low, double high) {
  return __builtin_fmin(__builtin_fmax(x, low), high);
}

/// e^r, |r| <= ln(2) / 2; `low` is a correction to r, far below it.
TILE_INLINE double expReduced(double r, double low) {
  double p = POLYNOMIAL(r, 0x1p-1, 0x1.555555555555ap-3, 0x1.5555555555528p-5, 0x1.111111110f1b7p-7,
                        0x1.6c16c16c2a081p-10, 0x1.a01a01b1be236p-13, 0x1.a01a01459cbdcp-16,
                        0x1.71ddf3e699422p-19, 0x1.27e5a4d4b88d1p-22, 0x1.af6622fb2f11cp-26,
                        0x1.1e4663c567b55p-29);
  return fmaD(p * r, r, low) + r + 1.0;
}

/// e^(x.hi + x.lo) * 2^extra.
TILE_INLINE double expOfPair(Pair x, i32 extra) {
  double c = clamp(x.hi, -760.0, 900.0);
  double shifted = c * D_LOG2E + ROUND_MAGIC;
  double k = shifted - ROUND_MAGIC;
  Pair r = quickSum(fmaD(k, -D_LN2_LO, fmaD(k, -D_LN2_HI, c)), x.lo);
  double y = scale(expReduced(r.hi, r.lo), (i32)bits(shifted) + extra);
  return x.hi == x.hi ? y : x.hi;
}

/// e^x * 2^extra.
TILE_INLINE double expScaled(double x, i32 extra) {
  double c = clamp(x, -750.0, 711.0);
  double shifted = c * D_LOG2E + ROUND_MAGIC;
  double k = shifted - ROUND_MAGIC;
  double r = fmaD(k, -D_LN2_LO, fmaD(k, -D_LN2_HI, c));
  double y = scale(expReduced(r, 0.0), (i32)bits(shifted) + extra);
  return x == x ? y : x;
}

/// 1 ulp.
TILE_API double __tile_exp(double x) { return expScaled(x, 0); }

/// 1 ulp.
TILE_API double __tile_exp2(double x) {
  double c = clamp(x, -1080.0, 1025.0);
  double shifted = c + ROUND_MAGIC;
  double f = c - (shifted - ROUND_MAGIC);
  double p = POLYNOMIAL(f, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58ep-3, 0x1.c6b08d704a1d5p-5,
                        0x1.3b2ab6fba523ep-7, 0x1.5d87fe7877a09p-10, 0x1.430912f718a62p-13,
                        0x1.ffcbfd25f6f22p-17, 0x1.62c0280cd4c45p-20, 0x1.b523a0b6dd142p-24,
                        0x1.e4b95623080d1p-28, 0x1.eb9a6a83341d9p-32, 0x1.e209283bcfdd9p-36);
  double y = scale(fmaD(p, f, 1.0), (i32)bits(shifted));
  return x == x ? y : x;
}

/// 1.2 ulp.
TILE_API double __tile_exp10(double x) {
  double c = clamp(x, -330.0, 310.0);
  double shifted = c * 0x1.a934f0979a371p+1 + ROUND_MAGIC;
  double k = shifted - ROUND_MAGIC;
  // k * log10(2) in two pieces, then to natural units.
  double r = fmaD(k, 0x1.9dc1da994fd21p-59, fmaD(k, -0x1.34413509f79ffp-2, c));
  const double ln10 = 0x1.26bb1bbb55516p+1, ln10Low = -0x1.f48ad494ea3e9p-53;
  Pair p = exactProduct(r, ln10);
  double y = scale(expReduced(p.hi, fmaD(r, ln10Low, p.lo)), (i32)bits(shifted));
  return x == x ? y : x;
}

/// 2 ulp; as __tile_expm1f.
TILE_API double __tile_expm1(double x) {
  double c = clamp(x, -50.0, 710.0);
  double shifted = c * D_LOG2E + ROUND_MAGIC;
  double k = shifted - ROUND_MAGIC;
  double r = fmaD(k, -D_LN2_LO, fmaD(k, -D_LN2_HI, c));
  double p = POLYNOMIAL(r, 0.5, 0x1.5555555555555p-3, 0x1.5555555555555p-5, 0x1.1111111111353p-7,
                        0x1.6c16c16c16c1dp-10, 0x1.a01a019eda04ep-13, 0x1.a01a01a2b4f06p-16,
                        0x1.71de3f367f95dp-19, 0x1.27e4e68706792p-22, 0x1.ae52e3bc3f935p-26,
                        0x1.1f5eeb27656bp-29, 0x1.78ba5025acb8ep-33);
  double q = fmaD(p * r, r, r);
  double half = pow2i((i32)bits(shifted) - 1);
  double y = fmaD(q, half, half - 0.5);
  y = y + y;
  y = k == 0.0 ? q : y;
  y = x > 0x1.62e42fefa39efp+9 ? TILE_INF : y;
  y = x == x ? y : x;
  return x == 0.0 ? x : y;
}

/// x = 2^exponent * (1 + f) with 1 + f in [pivot, 2 * pivot); x positive, finite.
typedef struct {
  double exponent, f;
} LogSplit;

#define D_PIVOT_2_3 0x3fe5555500000000ull
#define D_PIVOT_SQRT_1_2 0x3fe6a09e00000000ull

TILE_INLINE LogSplit splitForLog(double x, u64 pivot) {
  u32 tiny = x < 0x1p-1022;
  u64 b = bits(tiny ? x * 0x1p54 : x);
  u64 e = (b - pivot) & 0xfff0000000000000ull;
  LogSplit s;
  s.exponent = (double)((i32)(e >> 32) >> 20) - (tiny ? 54.0 : 0.0);
  s.f = fromBits(b - e) - 1.0;
  return s;
}

TILE_INLINE double logSpecial(double x, double y) {
  y = x < TILE_INF ? y : x; // +inf, NaN
  y = x < 0.0 ? TILE_NAN : y;
  return x == 0.0 ? -TILE_INF : y;
}

/// ln(1 + f) for 1 + f in [2/3, sqrt(2)].
///
/// With s = f / (2 + f): ln(1 + f) = 2s + s*R(s), 2s = f - s*f, where R collects
/// the higher terms. The sum f - s*(f - R) is small next to its first term.
TILE_INLINE double log1pReduced(double f) {
  double s = quickDivide(f, 2.0 + f), t = s * s;
  double R = t * POLYNOMIAL(t, 0x1.555555555554fp-1, 0x1.999999999c178p-2, 0x1.24924921e468p-2,
                            0x1.c71c748fa73ffp-3, 0x1.745c4ae05b23ap-3, 0x1.3b35c06346924p-3,
                            0x1.0dcb98a4fdefep-3, 0x1.1b819bfd0a992p-3);
  return fmaD(-s, f - R, f);
}

/// 1.3 ulp.
TILE_API double __tile_log(double x) {
  LogSplit s = splitForLog(x, D_PIVOT_2_3);
  double y = fmaD(s.exponent, D_LN2_LO, log1pReduced(s.f));
  return logSpecial(x, fmaD(s.exponent, D_LN2_HI, y));
}

/// exponent * unit + ln(1 + f) * (hi + lo).
TILE_INLINE double logToBase(double exponent, double unit, double unitLow, double f, double hi,
                             double lo) {
  double y = log1pReduced(f);
  Pair whole = exactProduct(exponent, unit);
  double rest = whole.lo + fmaD(exponent, unitLow, y * lo);
  return whole.hi + fmaD(y, hi, rest);
}

/// 2 ulp.
TILE_API double __tile_log2(double x) {
  LogSplit s = splitForLog(x, D_PIVOT_SQRT_1_2);
  return logSpecial(x, logToBase(s.exponent, 1.0, 0.0, s.f, D_LOG2E, D_LOG2E_LO));
}

/// 2 ulp.
TILE_API double __tile_log10(double x) {
  LogSplit s = splitForLog(x, D_PIVOT_SQRT_1_2);
  return logSpecial(x, logToBase(s.exponent, 0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59, s.f,
                                 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57));
}

/// 2 ulp; as __tile_log1pf.
TILE_API double __tile_log1p(double x) {
  u64 e = (bits(1.0 + x) - D_PIVOT_2_3) & 0xfff0000000000000ull;
  double quarter = fromBits(0x4010000000000000ull - e);
  double f = fmaD(x * 0.25, quarter, fmaD(quarter, 0.25, -1.0));
  double exponent = (double)((i32)(e >> 32) >> 20);
  double y = fmaD(exponent, D_LN2_HI, fmaD(exponent, D_LN2_LO, log1pReduced(f)));
  y = x < TILE_INF ? y : x;
  y = x < -1.0 ? TILE_NAN : y;
  y = x == -1.0 ? -TILE_INF : y;
  return absD(x) < 0x1p-54 ? x : y;
}
