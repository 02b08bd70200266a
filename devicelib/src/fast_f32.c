//===- fast_f32.c - what the hardware gives in one or two instructions ----===//
//
// libdevice's fast_* family. Denormals count as zero; errors are absolute where
// the result is near a zero of the function.
//
//===----------------------------------------------------------------------===//
#include "common.h"

TILE_API float __tile_fast_sinf(float x) { return sinApproxFtzF(x); }
TILE_API float __tile_fast_cosf(float x) { return cosApproxFtzF(x); }
TILE_API float __tile_fast_tanf(float x) {
  return sinApproxFtzF(x) * rcpApproxFtzF(cosApproxFtzF(x));
}
TILE_API float __tile_fast_exp10f(float x) { return ex2ApproxFtzF(x * 0x1.a934fp+1f); }
TILE_API float __tile_fast_log2f(float x) { return lg2ApproxFtzF(x); }
TILE_API float __tile_fast_logf(float x) { return lg2ApproxFtzF(x) * LN2_HI; }
TILE_API float __tile_fast_log10f(float x) { return lg2ApproxFtzF(x) * 0x1.344136p-2f; }
TILE_API float __tile_fast_powf(float x, float y) { return ex2ApproxFtzF(y * lg2ApproxFtzF(x)); }
/// Zero if |y| > 2^126.
TILE_API float __tile_fast_fdividef(float x, float y) { return x * rcpApproxFtzF(y); }
/// Clamped to [0, 1]; NaN becomes 0.
TILE_API float __tile_saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
