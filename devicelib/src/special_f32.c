//===- special_f32.c - roots, hyperbolic and error functions of f32 -------===//
#include "common.h"

/// The hardware's sqrt.approx.ftz: 1 ulp; denormals are zero.
TILE_API float __tile_sqrtf(float x) { return sqrtApproxFtzF(x); }
/// Correctly rounded.
TILE_API float __tile_sqrt_rnf(float x) { return sqrtRnF(x); }
/// The hardware's rsqrt.approx.ftz: 2 ulp; denormals are zero.
TILE_API float __tile_rsqrtf(float x) { return rsqrtApproxFtzF(x); }

/// 2 ulp. Odd polynomial below 0.55, 1 - 2/(e^2x + 1) above; both are
/// computed, which is cheaper than the branch.
TILE_API float __tile_tanhf(float x) {
  float a = absF(x), s = x * x;
  float p = fmaF(0x1.0d5172p-6f, s, -0x1.af7d36p-5f);
  p = fmaF(p, s, 0x1.10cefcp-3f);
  p = fmaF(p, s, -0x1.555452p-2f);
  float small = fmaF(p * s, a, a);
  float e = ex2ApproxFtzF(a * 0x1.715476p+1f);
  float large = fmaF(rcpApproxFtzF(e + 1.0f), -2.0f, 1.0f);
  return withSignF(a >= 0.55f ? large : small, x);
}

/// erf(x), |x| <= 1.
TILE_INLINE float erfSmallF(float x) {
  float s = x * x;
  float p = POLYNOMIAL_F(s, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2ce6p-4f, -0x1.b7f71ap-6f,
                         0x1.53f224p-8f, -0x1.a3515ep-11f, 0x1.4771fep-14f);
  return fmaF(p, x, x);
}

/// 1.1 ulp. Odd polynomial below 1; above, log2(erfc) is the smooth function
/// that a polynomial fits: erf = 1 - 2^q(|x|), which is 1 from 3.92 on.
TILE_API float __tile_erff(float x) {
  float a = absF(x);
  float q =
      POLYNOMIAL_F(__builtin_fminf(a, 3.95f), -0x1.0b967p-11f, -0x1.a03fe2p+0f, -0x1.d76e94p-1f,
                   -0x1.306ff4p-3f, 0x1.01b48ap-5f, -0x1.15edf4p-8f, 0x1.18b7c2p-12f);
  float large = withSignF(1.0f - ex2ApproxFtzF(q), x);
  float small = erfSmallF(x);       // outside of the choice: no branch
  return a >= 1.0f ? large : small; // NaN takes the second
}

/// Absolute error 2.5e-7, where only that counts: 1 + erf(x). The polynomial is
/// log2(erfc) on [0, 3.95], and falls so far beyond that the result is 1.
TILE_API float __tile_erf_absolutef(float x) {
  float a = absF(x);
  float q = a * POLYNOMIAL_F(a, -0x1.a0be9ep+0f, -0x1.d63aacp-1f, -0x1.301722p-3f, 0x1.cee88ep-6f,
                             -0x1.9621e8p-11f, -0x1.86727ep-10f, 0x1.d325cap-12f, -0x1.7c7ea4p-15f);
  return withSignF(1.0f - ex2ApproxFtzF(q), x);
}

/// 4 ulp. (1 + 2a) e^(a^2) erfc(a) is nearly constant, and smooth in the
/// variable (a - 2) / (a + 2) of the polynomial, for a from 0 to 10.1.
TILE_API float __tile_erfcf(float x) {
  float a = __builtin_fminf(absF(x), 10.5f);
  PairF square = exactProductF(a, -a);
  float t = (a - 2.0f) * rcpApproxFtzF(a + 2.0f);
  float g = POLYNOMIAL_F(t, 0x1.46e80ep+0f, -0x1.7bf604p-4f, -0x1.54080ap-3f, 0x1.4ffbd4p-3f,
                         -0x1.bc118p-5f, -0x1.08078p-7f, 0x1.1b2742p-7f, 0x1.5861c2p-10f,
                         -0x1.44f372p-10f, -0x1.a9113ep-12f);
  float y = g * rcpApproxFtzF(fmaF(a, 2.0f, 1.0f)) * expOfPairF(square);
  y = x < 0.0f ? 2.0f - y : y;
  float small = 1.0f - erfSmallF(x);
  return absF(x) >= 0.5f ? y : small;
}
