//===- inverse_f32.c - inverse trigonometric functions of f32 -------------===//
#include "common.h"

#define PI_F 0x1.921fb6p+1f
#define PI_2_F 0x1.921fb6p+0f
#define PI_2_LO_F -0x1.777a5cp-25f

/// atan(z), 0 <= z <= 1.
TILE_INLINE float atanPolyF(float z) {
  float s = z * z;
  float p = POLYNOMIAL_F(s, -0x1.55553ep-2f, 0x1.9991e4p-3f, -0x1.242086p-3f, 0x1.c08c4cp-4f,
                         -0x1.58090ep-4f, 0x1.da29b4p-5f, -0x1.fd7d14p-6f, 0x1.642386p-7f,
                         -0x1.d357a8p-10f);
  return fmaF(p * s, z, z);
}

/// 2 ulp.
TILE_API float __tile_atanf(float x) {
  float a = absF(x);
  u32 large = a > 1.0f;
  float y = atanPolyF(large ? rcpApproxFtzF(a) : a);
  return withSignF(large ? PI_2_F - y : y, x);
}

/// 3 ulp; all the special cases of C.
TILE_API float __tile_atan2f(float y, float x) {
  float ay = absF(y), ax = absF(x);
  float high = __builtin_fmaxf(ax, ay), low = __builtin_fminf(ax, ay);
  float z = high == low ? 1.0f : low / high; // equal: also both infinite
  z = high == 0.0f ? 0.0f : z;
  float a = atanPolyF(z);
  a = ay > ax ? PI_2_F - a : a;
  a = bitsF(x) >> 31 ? PI_F - a : a;
  a = withSignF(a, y);
  return x == x && y == y ? a : TILE_NAN_F;
}

/// asin(z) - z for 0 <= z <= 1/2, s = z * z.
TILE_INLINE float asinTailF(float z, float s) {
  float p = POLYNOMIAL_F(s, 0x1.55554cp-3f, 0x1.3338acp-4f, 0x1.6ca744p-5f, 0x1.04d454p-5f,
                         0x1.d4fadap-7f, 0x1.34db4cp-5f);
  return p * s * z;
}

/// 2 ulp. Above 1/2: pi/2 - 2 asin(sqrt((1 - x) / 2)).
TILE_API float __tile_asinf(float x) {
  float a = absF(x);
  u32 large = a > 0.5f;
  float s = large ? fmaF(a, -0.5f, 0.5f) : a * a;
  float z = large ? sqrtRnF(s) : a;
  float tail = asinTailF(z, s);
  float y = large ? PI_2_F - (fmaF(z, 2.0f, -PI_2_LO_F) + 2.0f * tail) : z + tail;
  return fromBitsF(bitsF(y) | (bitsF(x) & 0x80000000u));
}

/// 2 ulp.
TILE_API float __tile_acosf(float x) {
  float a = absF(x);
  u32 large = a > 0.5f;
  float s = large ? fmaF(a, -0.5f, 0.5f) : a * a;
  float z = large ? sqrtRnF(s) : a;
  float y = z + asinTailF(z, s); // asin(z)
  float upper = y + y;           // acos(a) for large a
  float lower = PI_2_F - (withSignF(y, x) - PI_2_LO_F);
  float reflected = PI_F - upper;
  return large ? (x < 0.0f ? reflected : upper) : lower;
}
