//===- common.h - ground rules of the device math sources -----------------===//
//
// The same C is compiled twice: to nvptx64 bitcode that ships inside the
// compiler, and for the host, where the unit tests measure its error. Rules: a
// fused multiply-add is written where it is meant, but the code must also be
// right when the kernel's compiler fuses others (mulRn is never fused; the tests
// run both ways); denormals are kept unless a function says "ftz"; nothing needs
// a C library.
//
// The hardware approximations (ex2, rcp, ...) are the only difference between
// the two. On the host each is the correctly rounded result times
// (1 + tileApproximationBias * its documented error bound), so that a test can
// also measure what the worst hardware would do to a function built on it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DEVICELIB_COMMON_H
#define TILE_DEVICELIB_COMMON_H

typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

/// A function kernels may call.
#define TILE_API __attribute__((always_inline))
/// A building block.
#define TILE_INLINE static inline __attribute__((always_inline))
/// A rare path, kept out of line: inlining it into every element of an
/// unrolled block would decide how long the driver takes to load the kernel.
#define TILE_SLOW static __attribute__((noinline))

#define TILE_INF_F __builtin_inff()
#define TILE_NAN_F __builtin_nanf("")
#define TILE_INF __builtin_inf()
#define TILE_NAN __builtin_nan("")

TILE_INLINE u32 bitsF(float x) { return __builtin_bit_cast(u32, x); }
TILE_INLINE float fromBitsF(u32 x) { return __builtin_bit_cast(float, x); }
TILE_INLINE u64 bits(double x) { return __builtin_bit_cast(u64, x); }
TILE_INLINE double fromBits(u64 x) { return __builtin_bit_cast(double, x); }
TILE_INLINE u32 highWord(double x) { return (u32)(bits(x) >> 32); }

TILE_INLINE float fmaF(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TILE_INLINE double fmaD(double a, double b, double c) { return __builtin_fma(a, b, c); }
TILE_INLINE float absF(float x) { return __builtin_fabsf(x); }
TILE_INLINE double absD(double x) { return __builtin_fabs(x); }

/// A product that no later addition may absorb: for the exact-error idiom
/// hi = mulRn(a, b), lo = fma(a, b, -hi).
TILE_INLINE float mulRnF(float a, float b) {
#ifdef __NVPTX__
  return __nvvm_mul_rn_f(a, b);
#else
#pragma clang fp contract(off)
  return a * b;
#endif
}
TILE_INLINE double mulRn(double a, double b) {
#ifdef __NVPTX__
  return __nvvm_mul_rn_d(a, b);
#else
#pragma clang fp contract(off)
  return a * b;
#endif
}

/// A value in two pieces, the second below the rounding error of the first.
typedef struct {
  float hi, lo;
} PairF;
typedef struct {
  double hi, lo;
} Pair;

/// a + b exactly, |a| >= |b| or a == 0.
TILE_INLINE PairF quickSumF(float a, float b) {
  PairF s;
  s.hi = a + b;
  s.lo = b - (s.hi - a);
  return s;
}
TILE_INLINE Pair quickSum(double a, double b) {
  Pair s;
  s.hi = a + b;
  s.lo = b - (s.hi - a);
  return s;
}
/// a * b exactly.
TILE_INLINE PairF exactProductF(float a, float b) {
  PairF p;
  p.hi = mulRnF(a, b);
  p.lo = fmaF(a, b, -p.hi);
  return p;
}
TILE_INLINE Pair exactProduct(double a, double b) {
  Pair p;
  p.hi = mulRn(a, b);
  p.lo = fmaD(a, b, -p.hi);
  return p;
}

/// coefficients[0] + coefficients[1] * x + ... by Horner's rule.
TILE_INLINE float polynomialF(float x, const float *coefficients, i32 count) {
  float p = coefficients[count - 1];
#pragma clang loop unroll(full)
  for (i32 i = count - 2; i >= 0; --i)
    p = fmaF(p, x, coefficients[i]);
  return p;
}
TILE_INLINE double polynomial(double x, const double *coefficients, i32 count) {
  double p = coefficients[count - 1];
#pragma clang loop unroll(full)
  for (i32 i = count - 2; i >= 0; --i)
    p = fmaD(p, x, coefficients[i]);
  return p;
}
/// polynomial(x, (double[]){...}): POLYNOMIAL(x, c0, c1, ...).
#define POLYNOMIAL_F(x, ...)                                                                       \
  polynomialF(x, (const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / 4)
#define POLYNOMIAL(x, ...)                                                                         \
  polynomial(x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / 8)

/// `magnitude`, which is not negative, with the sign of `sign`.
TILE_INLINE float withSignF(float magnitude, float sign) {
  return fromBitsF(bitsF(magnitude) | (bitsF(sign) & 0x80000000u));
}
TILE_INLINE double withSign(double magnitude, double sign) {
  return fromBits(bits(magnitude) | (bits(sign) & 0x8000000000000000ull));
}

#ifdef __NVPTX__

TILE_INLINE float ex2ApproxF(float x) { return __nvvm_ex2_approx_f(x); }
TILE_INLINE float ex2ApproxFtzF(float x) { return __nvvm_ex2_approx_ftz_f(x); }
TILE_INLINE float lg2ApproxFtzF(float x) { return __nvvm_lg2_approx_ftz_f(x); }
TILE_INLINE float rcpApproxFtzF(float x) { return __nvvm_rcp_approx_ftz_f(x); }
TILE_INLINE float sqrtApproxFtzF(float x) { return __nvvm_sqrt_approx_ftz_f(x); }
TILE_INLINE float rsqrtApproxFtzF(float x) { return __nvvm_rsqrt_approx_ftz_f(x); }
TILE_INLINE float sinApproxFtzF(float x) { return __nvvm_sin_approx_ftz_f(x); }
TILE_INLINE float cosApproxFtzF(float x) { return __nvvm_cos_approx_ftz_f(x); }
/// Works on the high word and returns one: about 20 bits.
TILE_INLINE double rcpApproxFtz(double x) { return __nvvm_rcp_approx_ftz_d(x); }
TILE_INLINE float sqrtRnF(float x) { return __nvvm_sqrt_rn_f(x); }
TILE_INLINE double sqrtRn(double x) { return __nvvm_sqrt_rn_d(x); }

#else

#include "host_approximations.h"

#endif

/// a / b for normal b in [2^-1000, 2^1000], short of overflow: an error of
/// hardly more than half an ulp, without the slow path of a full division.
TILE_INLINE double quickDivide(double a, double b) {
  double r = rcpApproxFtz(b);
  double e = fmaD(-b, r, 1.0);
  r = fmaD(r, fmaD(e, e, e), r);
  double q = a * r;
  return fmaD(fmaD(-b, q, a), r, q);
}

#endif // TILE_DEVICELIB_COMMON_H
