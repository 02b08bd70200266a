//===- trig_f32.c - sine, cosine and tangent of f32 -----------------------===//
//
// x = q * pi/2 + r with r in [-pi/4, pi/4], then two short polynomials. Up to
// 2^17 the reduction subtracts q * pi/2 in three pieces with fused multiply-adds
// (the first is exact); beyond, it multiplies the integer mantissa by the 96
// bits of 2/pi that matter for this exponent (Payne and Hanek), out of line.
//
//===----------------------------------------------------------------------===//
#include "common.h"

typedef struct {
  float r;
  i32 quadrant; // modulo 4 counts
} ReducedF;

/// The bits of 2/pi after the point, behind 32 zeros.
static const u32 twoOverPiF[9] = {0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                  0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u};

/// Both halves of the reduction of a large positive x, the quadrant in the high word.
TILE_SLOW u64 reduceLargeF(float x) {
  u32 b = bitsF(x);
  u32 mantissa = (b & 0x7fffffu) | 0x800000u;
  // |x| = mantissa * 2^(exponent - 150). Bits of 2/pi above 2^(152 - exponent)
  // only contribute multiples of 4 to x * 2/pi: start the window there.
  u32 start = (b >> 23) - 150u - 2u + 32u;
  u32 word = start >> 5, shift = start & 31u;
  u32 window[3];
  for (u32 i = 0; i < 3; ++i) {
    u64 pair = ((u64)twoOverPiF[word + i] << 32) | twoOverPiF[word + i + 1];
    window[i] = (u32)(pair >> (32u - shift));
  }
  // The low 96 bits of mantissa * window; the two top ones are the quadrant.
  u64 low = (u64)mantissa * window[2];
  u64 middle = (u64)mantissa * window[1] + (low >> 32);
  u32 high = mantissa * window[0] + (u32)(middle >> 32);
  u64 product = ((u64)high << 32) | (u32)middle;
  u32 quadrant = (u32)((product + 0x2000000000000000ull) >> 62);
  float r = (float)((double)(i64)(product << 2) * 0x1.921fb54442d18p-64);
  return ((u64)quadrant << 32) | bitsF(r);
}

/// x must not be negative.
TILE_INLINE ReducedF reduceF(float x) {
  ReducedF out;
  float shifted = fmaF(x, 0x1.45f306p-1f, 0x1.8p23f);
  float q = shifted - 0x1.8p23f;
  out.quadrant = (i32)bitsF(shifted);
  out.r = fmaF(q, -0x1.921fb6p+0f, x);
  out.r = fmaF(q, 0x1.777a5cp-25f, out.r);
  out.r = fmaF(q, 0x1.ee59dap-50f, out.r);
  if (__builtin_expect(!(x < 0x1p17f), 0)) {
    if (x < TILE_INF_F) {
      u64 both = reduceLargeF(x);
      out.r = fromBitsF((u32)both);
      out.quadrant = (i32)(both >> 32);
    } else {
      out.r = TILE_NAN_F;
    }
  }
  return out;
}

/// sin(r), |r| <= pi/4.
TILE_INLINE float sinPolyF(float r) {
  float s = r * r;
  float p = fmaF(-0x1.9952f8p-13f, s, 0x1.110776p-7f);
  p = fmaF(p, s, -0x1.555546p-3f);
  return fmaF(p * s, r, r);
}

/// cos(r), |r| <= pi/4.
TILE_INLINE float cosPolyF(float r) {
  float s = r * r;
  float p = fmaF(0x1.99e80cp-16f, s, -0x1.6c0c28p-10f);
  p = fmaF(p, s, 0x1.55554ap-5f);
  p = fmaF(p, s, -0.5f);
  return fmaF(p, s, 1.0f);
}

TILE_INLINE float sinOfQuadrantF(float r, i32 quadrant) {
  float y = quadrant & 1 ? cosPolyF(r) : sinPolyF(r);
  return fromBitsF(bitsF(y) ^ ((u32)(quadrant & 2) << 30));
}

/// 1.6 ulp over all floats.
TILE_API float __tile_sinf(float x) {
  // Through |x|, because the polynomial would lose the sign of -0.
  ReducedF reduced = reduceF(absF(x));
  float y = sinOfQuadrantF(reduced.r, reduced.quadrant);
  return fromBitsF(bitsF(y) ^ (bitsF(x) & 0x80000000u));
}

/// 1.6 ulp over all floats.
TILE_API float __tile_cosf(float x) {
  ReducedF reduced = reduceF(absF(x));
  return sinOfQuadrantF(reduced.r, reduced.quadrant + 1);
}

/// 4 ulp over all floats.
TILE_API float __tile_tanf(float x) {
  ReducedF reduced = reduceF(absF(x));
  float s = sinPolyF(reduced.r), c = cosPolyF(reduced.r);
  u32 odd = (u32)reduced.quadrant & 1u;
  float y = (odd ? -c : s) / (odd ? s : c);
  return fromBitsF(bitsF(y) ^ (bitsF(x) & 0x80000000u));
}
