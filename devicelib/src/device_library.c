//===- device_library.c - the device math library, as one module ----------===//
//
// The families are included here rather than linked, so that building the
// bitcode takes a compiler and nothing else.
//
//===----------------------------------------------------------------------===//
#include "exp_log_f32.c"
#include "exp_log_f64.c"
#include "special_f32.c"
#include "special_f64.c"
#include "trig_f32.c"
#include "trig_f64.c"

#ifndef __NVPTX__
double tileApproximationBias = 0.0;
#endif
