//===- convert.c - narrow float formats in software -----------------------===//
//
// For targets without the instructions: 8-bit floats below sm_89, bfloat16
// below sm_80. Narrow values travel as their bits. Integers do it all: adding a
// rounding term to the bits of a float carries into the exponent by itself, and
// adding a power of two whose last place is the format's smallest step rounds
// denormals in hardware.
//
//===----------------------------------------------------------------------===//
#include "common.h"

/// The 7 magnitude bits of `magnitude`, which is not negative, not NaN and not
/// above the format's largest: mantissaBits of mantissa, bias `bias`. Rounds to
/// nearest, ties to even.
TILE_INLINE u32 encodeMagnitude(float magnitude, u32 mantissaBits, i32 bias) {
  u32 b = bitsF(magnitude), drop = 23 - mantissaBits;
  u32 normal = (b + ((1u << (drop - 1)) - 1) + ((b >> drop) & 1)) >> drop;
  normal -= (u32)(127 - bias) << mantissaBits;
  // The smallest step is 2^(1 - bias - mantissaBits).
  float magic = pow2iF(1 - bias - (i32)mantissaBits + 23);
  u32 denormal = bitsF(magnitude + magic) - bitsF(magic);
  return magnitude < pow2iF(1 - bias) ? denormal : normal;
}

/// f32 to e4m3fn, nearest even; too large (and infinite) values become 448.
TILE_API unsigned char __tile_f32_to_e4m3fn(float x) {
  u32 code = encodeMagnitude(__builtin_fminf(absF(x), 448.0f), 3, 7);
  code = x == x ? code : 0x7f;
  return (unsigned char)(code | (bitsF(x) >> 24 & 0x80));
}

/// f32 to e5m2, nearest even; too large (and infinite) values become 57344.
TILE_API unsigned char __tile_f32_to_e5m2(float x) {
  u32 code = encodeMagnitude(__builtin_fminf(absF(x), 57344.0f), 2, 15);
  code = x == x ? code : 0x7f;
  return (unsigned char)(code | (bitsF(x) >> 24 & 0x80));
}

/// Exact.
TILE_API float __tile_e4m3fn_to_f32(unsigned char x) {
  u32 code = x & 0x7fu;
  // As a float with the same fields, 2^120 too small; denormals included.
  float magnitude = fromBitsF(code << 20) * 0x1p120f;
  magnitude = code == 0x7f ? TILE_NAN_F : magnitude;
  return fromBitsF(bitsF(magnitude) | (u32)(x & 0x80) << 24);
}

/// Exact.
TILE_API float __tile_e5m2_to_f32(unsigned char x) {
  u32 code = x & 0x7fu;
  float magnitude = fromBitsF(code << 21) * 0x1p112f;
  magnitude = code >= 0x7c ? fromBitsF(code << 21 | 0x7f800000u) : magnitude;
  return fromBitsF(bitsF(magnitude) | (u32)(x & 0x80) << 24);
}

/// f32 to bfloat16, nearest even. NaN stays NaN, quiet.
TILE_API unsigned short __tile_f32_to_bf16_rn(float x) {
  u32 b = bitsF(x);
  u32 rounded = (b + 0x7fff + ((b >> 16) & 1)) >> 16;
  return (unsigned short)(x == x ? rounded : (b >> 16 | 0x40));
}
/// f32 to bfloat16, towards zero.
TILE_API unsigned short __tile_f32_to_bf16_rz(float x) {
  u32 b = bitsF(x);
  return (unsigned short)(x == x ? b >> 16 : (b >> 16 | 0x40));
}
/// Exact.
TILE_API float __tile_bf16_to_f32(unsigned short x) { return fromBitsF((u32)x << 16); }
