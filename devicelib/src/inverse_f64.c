//===- inverse_f64.c - inverse trigonometric functions of f64 -------------===//
#include "common.h"

#define D_PI 0x1.921fb54442d18p+1
#define D_PI_LO 0x1.1a62633145c07p-53
#define D_PI_2 0x1.921fb54442d18p+0
#define D_PI_2_LO 0x1.1a62633145c07p-54

/// atan(z), 0 <= z <= 1.
TILE_INLINE double atanPoly(double z) {
  double s = z * z;
  double p = POLYNOMIAL(
      s, -0x1.5555555555526p-2, 0x1.99999999955b2p-3, -0x1.249249237f4ddp-3, 0x1.c71c717fccf95p-4,
      -0x1.745d11ae491a8p-4, 0x1.3b1366984324cp-4, -0x1.110e51185ee97p-4, 0x1.e1bba5c924926p-5,
      -0x1.ae5e701833064p-5, 0x1.82dacf1c61d9ep-5, -0x1.59a3ea1308735p-5, 0x1.2c2e33f02bfcbp-5,
      -0x1.e9f991bea8ee7p-6, 0x1.683c37442db02p-6, -0x1.c78ec36d15d5bp-7, 0x1.d7b7bac85d4e1p-8,
      -0x1.7a382d43c4073p-9, 0x1.b3f8d3a155a8ep-11, -0x1.3f34a17d1daf8p-13, 0x1.bbeafe3c4b60ep-17);
  return fmaD(p * s, z, z);
}

/// 2 ulp.
TILE_API double __tile_atan(double x) {
  double a = absD(x);
  u32 large = a > 1.0;
  // From 2^60 on the result is pi/2 anyway.
  double y = atanPoly(large ? quickDivide(1.0, __builtin_fmin(a, 0x1p60)) : a);
  return withSign(large ? D_PI_2 - (y - D_PI_2_LO) : y, x);
}

/// 2 ulp; all the special cases of C.
TILE_API double __tile_atan2(double y, double x) {
  double ay = absD(y), ax = absD(x);
  double high = __builtin_fmax(ax, ay), low = __builtin_fmin(ax, ay);
  double z = high == low ? 1.0 : low / high;
  z = high == 0.0 ? 0.0 : z;
  double a = atanPoly(z);
  a = ay > ax ? D_PI_2 - (a - D_PI_2_LO) : a;
  a = bits(x) >> 63 ? D_PI - (a - D_PI_LO) : a;
  a = withSign(a, y);
  return x == x && y == y ? a : TILE_NAN;
}

/// asin(z) - z for 0 <= z <= 1/2, s = z * z.
TILE_INLINE double asinTail(double z, double s) {
  double p = POLYNOMIAL(s, 0x1.5555555555577p-3, 0x1.333333332e10ap-4, 0x1.6db6db7215532p-5,
                        0x1.f1c71a9390071p-6, 0x1.6e8bdf0db0feep-6, 0x1.1c49ecce4b032p-6,
                        0x1.ca1fea48d62bep-7, 0x1.75825b5e3e00bp-7, 0x1.614f74929709ep-7,
                        0x1.e4c8eb5cc9912p-9, 0x1.63fc1a76bc8edp-6, -0x1.588a7c207f602p-6,
                        0x1.0b747fc6d997ep-5);
  return p * s * z;
}

/// 2 ulp.
TILE_API double __tile_asin(double x) {
  double a = absD(x);
  u32 large = a > 0.5;
  double s = large ? fmaD(a, -0.5, 0.5) : a * a;
  double z = large ? sqrtRn(s) : a;
  double tail = asinTail(z, s);
  double y = large ? D_PI_2 - (fmaD(z, 2.0, -D_PI_2_LO) + 2.0 * tail) : z + tail;
  return fromBits(bits(y) | (bits(x) & 0x8000000000000000ull));
}

/// 2 ulp.
TILE_API double __tile_acos(double x) {
  double a = absD(x);
  u32 large = a > 0.5;
  double s = large ? fmaD(a, -0.5, 0.5) : a * a;
  double z = large ? sqrtRn(s) : a;
  double y = z + asinTail(z, s);
  double upper = y + y;
  double lower = D_PI_2 - (withSign(y, x) - D_PI_2_LO);
  double reflected = D_PI - (upper - D_PI_LO);
  return large ? (x < 0.0 ? reflected : upper) : lower;
}
