//===- trig_f64.c - sine, cosine and tangent of f64 -----------------------===//
//
// As trig_f32.c: fused multiply-adds up to 2^29, Payne and Hanek beyond.
//
//===----------------------------------------------------------------------===//
#include "common.h"

typedef struct {
  double r;
  i32 quadrant; // modulo 4 counts
} Reduced;

typedef unsigned __int128 u128;

/// The bits of 2/pi after the point, behind 64 zeros.
static const u64 twoOverPi[20] = {
    0ull,
    0xa2f9836e4e441529ull,
    0xfc2757d1f534ddc0ull,
    0xdb6295993c439041ull,
    0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull,
    0xfe1deb1cb129a73eull,
    0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull,
    0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full,
    0x6d367ecf27cb09b7ull,
    0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull,
    0x3d0739f78a5292eaull,
    0x6bfb5fb11f8d5d08ull,
    0x56033046fc7b6babull,
};

/// (high, low) * pi/2 * 2^-128 as the nearest double or its neighbour.
TILE_INLINE double fractionToAngle(u64 high, u64 low) {
  i32 lead = 0;
  if (high == 0) {
    high = low;
    low = 0;
    lead = 64;
  }
  if (high == 0)
    return 0.0;
  i32 shift = __builtin_clzll(high);
  u64 top = shift ? (high << shift) | (low >> (64 - shift)) : high;
  // 53 bits exactly, and the other 11.
  double a = (double)(top & ~0x7ffull), b = (double)(top & 0x7ffull);
  double r =
      fmaD(a, 0x1.921fb54442d18p-64, fmaD(b, 0x1.921fb54442d18p-64, a * 0x1.1a62633145c07p-118));
  return r * fromBits((u64)(1023 - lead - shift) << 52);
}

TILE_SLOW Reduced reduceLarge(double x) {
  u64 b = bits(x);
  u64 mantissa = (b & 0xfffffffffffffull) | 0x10000000000000ull;
  // |x| = mantissa * 2^(exponent - 1075); the window starts where the bits of
  // 2/pi begin to matter modulo 4, and is 192 bits wide.
  u32 start = (u32)(b >> 52) - 1075u - 2u + 64u;
  u32 word = start >> 6, shift = start & 63u;
  u64 window[3];
  for (u32 i = 0; i < 3; ++i)
    window[i] =
        (u64)((((u128)twoOverPi[word + i] << 64) | twoOverPi[word + i + 1]) >> (64u - shift));
  u128 low = (u128)mantissa * window[2];
  u128 middle = (u128)mantissa * window[1] + (u64)(low >> 64);
  u64 high = mantissa * window[0] + (u64)(middle >> 64);
  u64 rest = (u64)middle;
  Reduced out;
  out.quadrant = (i32)((high + 0x2000000000000000ull) >> 62);
  high = (high << 2) | (rest >> 62);
  rest <<= 2;
  u64 negative = (u64)((i64)high >> 63); // all ones or zero
  u128 magnitude = (((u128)(high ^ negative) << 64) | (rest ^ negative)) + (negative & 1);
  double r = fractionToAngle((u64)(magnitude >> 64), (u64)magnitude);
  out.r = fromBits(bits(r) ^ (negative & 0x8000000000000000ull));
  return out;
}

/// x must not be negative.
TILE_INLINE Reduced reduce(double x) {
  Reduced out;
  double shifted = fmaD(x, 0x1.45f306dc9c883p-1, 0x1.8p52);
  double q = shifted - 0x1.8p52;
  out.quadrant = (i32)bits(shifted);
  out.r = fmaD(q, -0x1.921fb54442d18p+0, x);
  out.r = fmaD(q, -0x1.1a62633145c07p-54, out.r);
  out.r = fmaD(q, 0x1.f1976b7ed8fbcp-110, out.r);
  if (__builtin_expect(!(x < 0x1p29), 0)) {
    if (x < TILE_INF)
      out = reduceLarge(x);
    else
      out.r = TILE_NAN;
  }
  return out;
}

/// sin(r), |r| <= pi/4.
TILE_INLINE double sinPoly(double r) {
  double s = r * r;
  double p = POLYNOMIAL(s, -0x1.5555555555548p-3, 0x1.111111110f72fp-7, -0x1.a01a019be8f96p-13,
                        0x1.71de3555076ccp-19, -0x1.ae5e4b6855d98p-26, 0x1.5d8b4de13c77dp-33);
  return fmaD(p * s, r, r);
}

/// cos(r), |r| <= pi/4.
TILE_INLINE double cosPoly(double r) {
  double s = r * r;
  double p =
      POLYNOMIAL(s, -0.5, 0x1.555555555554bp-5, -0x1.6c16c16c1500dp-10, 0x1.a01a019c8dce2p-16,
                 -0x1.27e4f7f04a64cp-22, 0x1.1ee9dac5cd7fbp-29, -0x1.8fa5e8c470aep-37);
  return fmaD(p, s, 1.0);
}

TILE_INLINE double sinOfQuadrant(double r, i32 quadrant) {
  double y = quadrant & 1 ? cosPoly(r) : sinPoly(r);
  return fromBits(bits(y) ^ ((u64)(quadrant & 2) << 62));
}

/// 1.6 ulp over all doubles.
TILE_API double __tile_sin(double x) {
  Reduced reduced = reduce(absD(x));
  double y = sinOfQuadrant(reduced.r, reduced.quadrant);
  return fromBits(bits(y) ^ (bits(x) & 0x8000000000000000ull));
}

/// 1.6 ulp over all doubles.
TILE_API double __tile_cos(double x) {
  Reduced reduced = reduce(absD(x));
  return sinOfQuadrant(reduced.r, reduced.quadrant + 1);
}

/// 3.5 ulp over all doubles.
TILE_API double __tile_tan(double x) {
  Reduced reduced = reduce(absD(x));
  double s = sinPoly(reduced.r), c = cosPoly(reduced.r);
  u32 odd = (u32)reduced.quadrant & 1u;
  double y = (odd ? -c : s) / (odd ? s : c);
  return fromBits(bits(y) ^ (bits(x) & 0x8000000000000000ull));
}
