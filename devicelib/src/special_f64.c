//===- special_f64.c - roots, hyperbolic and error functions of f64 -------===//
#include "common.h"

/// Correctly rounded.
TILE_API double __tile_sqrt(double x) { return sqrtRn(x); }
TILE_API double __tile_sqrt_rn(double x) { return sqrtRn(x); }
/// 1.5 ulp: two correctly rounded operations.
TILE_API double __tile_rsqrt(double x) { return 1.0 / sqrtRn(x); }

/// 2 ulp; as __tile_tanhf.
TILE_API double __tile_tanh(double x) {
  double a = absD(x), s = x * x;
  double p = POLYNOMIAL(s, -0x1.5555555555555p-2, 0x1.111111111108p-3, -0x1.ba1ba1ba10e22p-5,
                        0x1.664f487f8e564p-6, -0x1.226e34cf6ef51p-7, 0x1.d6d3b1018ff9bp-9,
                        -0x1.7da103be5d45ep-10, 0x1.3539018b4109fp-11, -0x1.f349c138fe73bp-13,
                        0x1.88d7804be3f07p-14, -0x1.1131eb2b401f7p-15, 0x1.e4b2f15e6a1a9p-18);
  double small = fmaD(p * s, a, a);
  // From 20 on the result is 1; the limit keeps the division in range.
  double e = __tile_exp(2.0 * __builtin_fmin(a, 20.0));
  double large = 1.0 - quickDivide(2.0, e + 1.0);
  return withSign(a >= 0.55 ? large : small, x);
}

/// erf(x), |x| <= 1.
TILE_INLINE double erfSmall(double x) {
  double s = x * x;
  double p = POLYNOMIAL(s, 0x1.06eba8214db69p-3, -0x1.812746b037a25p-2, 0x1.ce2f21a04590bp-4,
                        -0x1.b82ce31356be3p-6, 0x1.565bcd2cd42a3p-8, -0x1.c02db94df03b4p-11,
                        0x1.f9a3bd16cc9d9p-14, -0x1.f4dd469e643bcp-17, 0x1.ba6df895980edp-20,
                        -0x1.63bf38b5ee6e5p-23, 0x1.14340bff31d25p-26, -0x1.cbf6dc1ceb0c7p-30,
                        0x1.462ccd0e947dfp-33);
  return fmaD(p, x, x);
}

/// 1.2 ulp; as __tile_erff, the result being 1 from 5.93 on.
TILE_API double __tile_erf(double x) {
  double a = absD(x);
  double q = POLYNOMIAL(
      __builtin_fmin(a, 5.95), -0x1.8d9bd33e87861p-21, -0x1.a0be068e3a7e1p+0, -0x1.d6436eff8b142p-1,
      -0x1.2f72bd5291956p-3, 0x1.c0d26fe9097d5p-6, 0x1.38d11ec06feb8p-11, -0x1.6adf66262fe71p-9,
      0x1.245ea2fd8f23ep-10, -0x1.9d331e47740a1p-13, -0x1.d85f151d09a62p-16, 0x1.10aa2c1224dc7p-15,
      -0x1.9f3fa0c16f05fp-17, 0x1.99762fa0a90ep-19, -0x1.1e374d13d2d86p-21, 0x1.1c968a76d7cc7p-24,
      -0x1.819e3a267ab5ep-28, 0x1.4070c1a495cc8p-32, -0x1.edd810f33f38cp-38);
  double large = withSign(1.0 - __tile_exp2(q), x);
  return a >= 1.0 ? large : erfSmall(x);
}

/// 4 ulp; as __tile_erfcf.
TILE_API double __tile_erfc(double x) {
  double a = __builtin_fmin(absD(x), 28.0);
  Pair square = exactProduct(a, -a);
  double t = quickDivide(a - 4.0, a + 4.0);
  double p = POLYNOMIAL(
      t, 0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a291p-3, 0x1.f7f5df66fb606p-7, 0x1.16ecefcfa534bp-4,
      -0x1.9ddb23c3d9b2ap-4, 0x1.7fee004e1519fp-4, -0x1.0fb06dff99a68p-4, 0x1.3079edf5c103fp-5,
      -0x1.0962384b68122p-6, 0x1.49c672e5f87a7p-8, -0x1.8d4ac718872a6p-11, -0x1.a1df891d7ee5cp-13,
      0x1.3be2ed3f8d127p-13, -0x1.994a66bbc3e3p-16, -0x1.78e96621024f2p-17, 0x1.7e7fb42332c4bp-18,
      0x1.4b1a420b6970dp-22, -0x1.b23043ec737efp-21, 0x1.164f65f1f7578p-24, 0x1.9703bf7f62a05p-24,
      -0x1.1c98c286f0aadp-26, -0x1.0e702ca94405p-27, 0x1.a6f0434cfa774p-29, 0x1.f79bb9a9e704ap-31);
  double y = quickDivide(p, fmaD(a, 2.0, 1.0)) * expOfPair(square, 0);
  y = x < 0.0 ? 2.0 - y : y;
  return absD(x) >= 0.5 ? y : 1.0 - erfSmall(x);
}
