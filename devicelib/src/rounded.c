//===- rounded.c - arithmetic with a direction of rounding ----------------===//
//
// One instruction each: there is nothing here to measure on the host. `rd` and
// `ru` round down and up, which the hardware calls minus and plus.
//
//===----------------------------------------------------------------------===//
#include "common.h"

#ifdef __NVPTX__
#define ROUNDED(MODE, HARDWARE, TYPE, SUFFIX, LETTER)                                              \
  TILE_API TYPE __tile_add_##MODE##SUFFIX(TYPE a, TYPE b) {                                        \
    return __nvvm_add_##HARDWARE##_##LETTER(a, b);                                                 \
  }                                                                                                \
  TILE_API TYPE __tile_sub_##MODE##SUFFIX(TYPE a, TYPE b) {                                        \
    return __nvvm_add_##HARDWARE##_##LETTER(a, -b);                                                \
  }                                                                                                \
  TILE_API TYPE __tile_mul_##MODE##SUFFIX(TYPE a, TYPE b) {                                        \
    return __nvvm_mul_##HARDWARE##_##LETTER(a, b);                                                 \
  }                                                                                                \
  TILE_API TYPE __tile_div_##MODE##SUFFIX(TYPE a, TYPE b) {                                        \
    return __nvvm_div_##HARDWARE##_##LETTER(a, b);                                                 \
  }                                                                                                \
  TILE_API TYPE __tile_fma_##MODE##SUFFIX(TYPE a, TYPE b, TYPE c) {                                \
    return __nvvm_fma_##HARDWARE##_##LETTER(a, b, c);                                              \
  }                                                                                                \
  TILE_API TYPE __tile_rcp_##MODE##SUFFIX(TYPE a) { return __nvvm_rcp_##HARDWARE##_##LETTER(a); }
#define ROUNDED_TYPES(MODE, HARDWARE)                                                              \
  ROUNDED(MODE, HARDWARE, float, f, f)                                                             \
  ROUNDED(MODE, HARDWARE, double, , d)
ROUNDED_TYPES(rn, rn)
ROUNDED_TYPES(rz, rz)
ROUNDED_TYPES(rd, rm)
ROUNDED_TYPES(ru, rp)
#undef ROUNDED_TYPES
#undef ROUNDED

// To nearest it is among the roots.
TILE_API float __tile_sqrt_rzf(float a) { return __nvvm_sqrt_rz_f(a); }
TILE_API float __tile_sqrt_rdf(float a) { return __nvvm_sqrt_rm_f(a); }
TILE_API float __tile_sqrt_ruf(float a) { return __nvvm_sqrt_rp_f(a); }
TILE_API double __tile_sqrt_rz(double a) { return __nvvm_sqrt_rz_d(a); }
TILE_API double __tile_sqrt_rd(double a) { return __nvvm_sqrt_rm_d(a); }
TILE_API double __tile_sqrt_ru(double a) { return __nvvm_sqrt_rp_d(a); }
#endif
