//===- device_library.c - the device math library, as one module ----------===//
//
// The families are included here rather than linked, so that building the
// bitcode takes a compiler and nothing else; later ones use earlier ones.
//
//===----------------------------------------------------------------------===//
// clang-format off: the order matters
#include "exp_log_f32.c"
#include "exp_log_f64.c"
#include "trig_f32.c"
#include "trig_f64.c"
#include "inverse_f32.c"
#include "inverse_f64.c"
#include "pow_f32.c"
#include "pow_f64.c"
#include "special_f32.c"
#include "special_f64.c"
#include "hyperbolic.c"
#include "rounding.c"
#include "gamma.c"
#include "erfinv.c"
#include "bessel.c"
#include "rounded.c"
#include "fast_f32.c"
#include "convert.c"
// clang-format on

#ifndef __NVPTX__
double tileApproximationBias = 0.0;
#endif
