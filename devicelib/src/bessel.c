//===- bessel.c - Bessel functions of integer order -----------------------===//
//
// Below 30 all orders come from one backward recurrence, which is stable:
// J(k-1) = 2k/x J(k) - J(k+1) from far above the argument, scaled by
// J0 + 2 (J2 + J4 + ...) = 1. Neumann's series in the same terms give Y0 and
// Y1. From 30 on Hankel's expansion has reached the last bit before it
// diverges. The f32 functions go through f64.
//
//===----------------------------------------------------------------------===//
#include "common.h"

#define D_TWO_OVER_PI 0x1.45f306dc9c883p-1
#define D_EULER_GAMMA 0x1.2788cfc6fb619p-1

typedef struct {
  double j0, j1, y0, y1;
} BesselValues;

/// 0 < x < 30.
TILE_INLINE BesselValues besselNear(double x) {
  i32 start = 2 * (i32)(x * 0.5 + 28.0);
  double perOrder = 2.0 / x, above = 0.0, here = 0x1p-1000;
  double norm = 0.0, even = 0.0, odd = 0.0; // sums for J0, Y0 and Y1
  double j1 = 0.0;
  for (i32 k = start; k > 0; --k) { // here is J(k)
    double m = (double)(k / 2);
    double sign = (k / 2) % 2 ? -1.0 : 1.0;
    if (k % 2 == 0) {
      norm += 2.0 * here;
      even += sign * here / m;
    } else if (k > 1) {
      odd += sign * here * (2.0 * m + 1.0) / (m * (m + 1.0));
    }
    j1 = here;
    double below = fmaD(perOrder * (double)k, here, -above);
    above = here;
    here = below;
    if (absD(here) > 0x1p500) { // only ratios count
      here *= 0x1p-600;
      above *= 0x1p-600;
      norm *= 0x1p-600;
      even *= 0x1p-600;
      odd *= 0x1p-600;
      j1 *= 0x1p-600;
    }
  }
  double scale = 1.0 / (norm + here);
  BesselValues v;
  v.j0 = here * scale;
  v.j1 = j1 * scale;
  double l = __tile_log(x * 0.5) + D_EULER_GAMMA;
  v.y0 = D_TWO_OVER_PI * (l * v.j0 - 2.0 * even * scale);
  v.y1 = D_TWO_OVER_PI * ((l - 1.0) * v.j1 - v.j0 / x - odd * scale);
  return v;
}

/// The amplitude and the two parts of the phase of order n (0 or 1), x >= 30.
typedef struct {
  double p, q;
} HankelParts;
TILE_INLINE HankelParts hankel(double x, double mu) {
  double r = 0.125 / x, term = 1.0;
  HankelParts h = {1.0, 0.0};
  for (i32 k = 1; k < 24; ++k) {
    double odd = (double)(2 * k - 1);
    term *= (mu - odd * odd) * r / (double)k;
    double sign = k & 2 ? -term : term;
    if (k % 2)
      h.q += sign;
    else
      h.p += sign;
  }
  return h;
}

TILE_INLINE BesselValues besselFar(double x) {
  double s = __tile_sin(x), c = __tile_cos(x);
  double amplitude = 0x1.20dd750429b6dp-1 / sqrtRn(x); // 1 / sqrt(pi)
  HankelParts zero = hankel(x, 0.0), one = hankel(x, 4.0);
  BesselValues v; // cos(x - pi/4) = (c + s) / sqrt 2, sin(x - pi/4) = (s - c) / sqrt 2
  v.j0 = amplitude * (zero.p * (c + s) - zero.q * (s - c));
  v.y0 = amplitude * (zero.p * (s - c) + zero.q * (c + s));
  v.j1 = amplitude * (one.p * (s - c) + one.q * (c + s));
  v.y1 = amplitude * (one.q * (s - c) - one.p * (c + s));
  return v;
}

typedef enum { J0, J1, Y0, Y1 } BesselFunction;

/// x > 0.
TILE_SLOW double bessel(double x, BesselFunction which) {
  BesselValues v = {0.0, 0.0, 0.0, 0.0}; // at infinity
  if (x < 30.0)
    v = besselNear(x < 0x1p-500 ? 0x1p-500 : x);
  else if (x < TILE_INF)
    v = besselFar(x);
  return which == J0 ? v.j0 : which == J1 ? v.j1 : which == Y0 ? v.y0 : v.y1;
}

TILE_API double __tile_j0(double x) {
  double a = absD(x);
  return x == x ? (a < 0x1p-30 ? 1.0 : bessel(a, J0)) : x;
}
TILE_API double __tile_j1(double x) {
  double a = absD(x);
  double y = a < 0x1p-30 ? a * 0.5 : bessel(a, J1);
  return x == x ? (x < 0.0 ? -y : y) : x;
}
TILE_API double __tile_y0(double x) {
  return x > 0.0 ? bessel(x, Y0) : x == 0.0 ? -TILE_INF : TILE_NAN;
}
TILE_API double __tile_y1(double x) {
  if (!(x > 0.0))
    return x == 0.0 ? -TILE_INF : TILE_NAN;
  return x < 0x1p-30 ? -D_TWO_OVER_PI / x : bessel(x, Y1);
}

/// Upwards from orders 0 and 1 where that is stable, else downwards from above.
TILE_SLOW double besselJ(i32 n, double x) {
  double a = absD(x), perOrder = 2.0 / a, result;
  u32 negate = (n & 1) && (n < 0) != (x < 0.0);
  i32 order = n < 0 ? -n : n;
  if (x != x)
    return x;
  if (a == 0.0 || a == TILE_INF)
    return order == 0 && a == 0.0 ? 1.0 : 0.0;
  if ((double)order <= a) {
    double below = bessel(a, J0);
    result = order ? bessel(a, J1) : below;
    for (i32 k = 1; k < order; ++k) {
      double next = fmaD(perOrder * (double)k, result, -below);
      below = result;
      result = next;
    }
  } else {
    i32 start = order + 24 + (i32)sqrtRn(40.0 * (double)order);
    double above = 0.0, here = 0x1p-1000, norm = 0.0;
    result = 0.0;
    start += start & 1;
    for (i32 k = start; k > 0; --k) {
      if (k == order)
        result = here;
      if (k % 2 == 0)
        norm += 2.0 * here;
      double below = fmaD(perOrder * (double)k, here, -above);
      above = here;
      here = below;
      if (absD(here) > 0x1p500) {
        here *= 0x1p-600;
        above *= 0x1p-600;
        norm *= 0x1p-600;
        result *= 0x1p-600;
      }
    }
    result = (order ? result : here) / (norm + here);
  }
  return negate ? -result : result;
}

TILE_SLOW double besselY(i32 n, double x) {
  i32 order = n < 0 ? -n : n;
  double result = __tile_y0(x), below = result;
  if (order && x > 0.0) {
    result = __tile_y1(x);
    for (i32 k = 1; k < order && result > -TILE_INF; ++k) {
      double next = fmaD(2.0 * (double)k / x, result, -below);
      below = result;
      result = next;
    }
  }
  return n < 0 && (n & 1) ? -result : result;
}

TILE_API double __tile_jn(i32 n, double x) { return besselJ(n, x); }
TILE_API double __tile_yn(i32 n, double x) { return besselY(n, x); }

/// The modified functions of orders 0 and 1: all terms of the series are
/// positive; far out the expansion times e^x.
TILE_SLOW double besselI(i32 order, double a) {
  if (a < 36.0) {
    double s = a * a * 0.25, term = order ? a * 0.5 : 1.0, sum = term;
    for (i32 k = 1; term > sum * 0x1p-60; ++k) {
      term *= s / ((double)k * (double)(k + order));
      sum += term;
    }
    return sum;
  }
  double mu = order ? 4.0 : 0.0, r = 0.125 / a, term = 1.0, sum = 1.0;
  for (i32 k = 1; k < 24; ++k) {
    double odd = (double)(2 * k - 1);
    term *= (odd * odd - mu) * r / (double)k;
    sum += term;
  }
  double half = __tile_exp(a * 0.5); // e^a itself may be beyond the range
  return a < TILE_INF ? half * (half * (sum * 0x1.9884533d43651p-2 / sqrtRn(a))) : a;
}

TILE_API double __tile_cyl_bessel_i0(double x) { return x == x ? besselI(0, absD(x)) : x; }
TILE_API double __tile_cyl_bessel_i1(double x) {
  return x == x ? withSign(besselI(1, absD(x)), x) : x;
}

TILE_API float __tile_j0f(float x) { return (float)__tile_j0((double)x); }
TILE_API float __tile_j1f(float x) { return (float)__tile_j1((double)x); }
TILE_API float __tile_y0f(float x) { return (float)__tile_y0((double)x); }
TILE_API float __tile_y1f(float x) { return (float)__tile_y1((double)x); }
TILE_API float __tile_jnf(i32 n, float x) { return (float)__tile_jn(n, (double)x); }
TILE_API float __tile_ynf(i32 n, float x) { return (float)__tile_yn(n, (double)x); }
TILE_API float __tile_cyl_bessel_i0f(float x) { return (float)__tile_cyl_bessel_i0((double)x); }
TILE_API float __tile_cyl_bessel_i1f(float x) { return (float)__tile_cyl_bessel_i1((double)x); }
