//===- host_approximations.h - the hardware approximations, on the host ---===//
#ifndef TILE_DEVICELIB_HOST_APPROXIMATIONS_H
#define TILE_DEVICELIB_HOST_APPROXIMATIONS_H

/// -1, 0 or 1: which end of its documented error every approximation takes.
extern double tileApproximationBias;

TILE_INLINE float flushF(float x) {
  return absF(x) < 0x1p-126f ? fromBitsF(bitsF(x) & 0x80000000u) : x;
}
TILE_INLINE float biased(double exact, double bound) {
  return (float)(exact * (1.0 + tileApproximationBias * bound));
}

/// 2^x in double for a float x, good to 2^-50: exactly 2^round(x) times a
/// Taylor series on [-1/2, 1/2].
TILE_INLINE double hostExp2(float x) {
  if (!(absF(x) < 1000.0f))
    return x != x ? (double)x : (x > 0.0f ? TILE_INF : 0.0);
  double k = __builtin_rint(x);
  double t = ((double)x - k) * 0x1.62e42fefa39efp-1, sum = 1.0;
  for (int i = 16; i > 0; --i)
    sum = 1.0 + sum * t / i;
  return sum * fromBits((u64)(1023 + (i32)k) << 52);
}

TILE_INLINE float ex2ApproxF(float x) {
  // Whole numbers are exact on the hardware, which the biased model must keep.
  return x == __builtin_rintf(x) ? (float)hostExp2(x) : biased(hostExp2(x), 0x1p-22);
}
TILE_INLINE float ex2ApproxFtzF(float x) { return flushF(ex2ApproxF(flushF(x))); }
TILE_INLINE float lg2ApproxFtzF(float x) {
  double exact = __builtin_log2((double)flushF(x));
  return flushF((float)(exact + tileApproximationBias * 0x1p-22));
}
TILE_INLINE float rcpApproxFtzF(float x) {
  return flushF(biased(1.0 / (double)flushF(x), 0x1p-23));
}
TILE_INLINE double rcpApproxFtz(double x) {
  const u64 high = 0xffffffff00000000ull;
  return fromBits(bits(1.0 / fromBits(bits(x) & high)) & high);
}
TILE_INLINE float sqrtRnF(float x) { return __builtin_sqrtf(x); }
TILE_INLINE double sqrtRn(double x) { return __builtin_sqrt(x); }
TILE_INLINE float sqrtApproxFtzF(float x) {
  return flushF(biased(sqrtRn((double)flushF(x)), 0x1p-23));
}
TILE_INLINE float rsqrtApproxFtzF(float x) {
  return flushF(biased(1.0 / sqrtRn((double)flushF(x)), 0x1.8p-23));
}
TILE_INLINE float sinApproxFtzF(float x) {
  return (float)(__builtin_sin((double)flushF(x)) + tileApproximationBias * 0x1p-20);
}
TILE_INLINE float cosApproxFtzF(float x) {
  return (float)(__builtin_cos((double)flushF(x)) + tileApproximationBias * 0x1p-20);
}

#endif // TILE_DEVICELIB_HOST_APPROXIMATIONS_H
