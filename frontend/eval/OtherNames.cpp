//===- OtherNames.cpp - what other libraries call it ----------------------===//
#include "frontend/eval/OtherNames.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

StringRef tile::eval::inKernels(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Cases({"pow", "power"}, "use `x * x`, or `libdevice.pow(x, y)`")
      .Case("mean", "use `tl.sum(x) / n`")
      .Cases({"var", "std"}, "use `tl.sum` of `x` and of `(x - mean) * (x - mean)`")
      .Cases({"prod", "norm", "logsumexp"}, "use `tl.reduce`, or `tl.sum` and functions of it")
      .Cases({"any", "all"}, "use `tl.max(c.to(tl.int32))` or `tl.min(...)`")
      .Case("argsort",
            "use `tl.sort`, which gives values, of keys with the index in their low bits")
      .Case("relu", "use `tl.maximum(x, 0.0)`")
      .Cases({"gelu", "silu"}, "use `x * tl.sigmoid(...)`, or `tl.erf`")
      .Cases({"concat", "concatenate", "hstack", "vstack"}, "use `tl.cat(a, b, dim=...)`")
      .Case("stack", "use `tl.join(a, b)`")
      .Cases({"ones", "ones_like"}, "use `tl.full(shape, 1, dtype)`")
      .Cases({"empty", "empty_like"}, "use `tl.zeros(shape, dtype)`")
      .Cases({"eye", "tril", "triu"},
             "compare `tl.arange(0, N)[:, None]` with `tl.arange(0, N)[None, :]`")
      .Case("linspace", "use `tl.arange(0, N) * step`")
      .Case("isnan", "use `x != x`, or `libdevice.isnan(x)`")
      .Cases({"isinf", "isfinite"}, "use `tl.abs(x) == float(\"inf\")`, or `libdevice.isinf(x)`")
      .Cases({"round", "rint", "nearbyint"}, "use `libdevice.rint(x)`, or `tl.floor(x + 0.5)`")
      .Cases({"trunc", "sign", "atan2", "fmod"}, "see `triton.language.extra.libdevice`")
      .Cases({"sinh", "cosh", "tan", "asin", "acos", "atan", "log10", "log1p", "expm1"},
             "see `triton.language.extra.libdevice`")
      .Cases({"half", "float16_t"}, "use `tl.float16`, or `x.to(tl.float16)`")
      .Cases({"float", "single"}, "use `tl.float32`, or `x.to(tl.float32)`")
      .Case("double", "use `tl.float64`, or `x.to(tl.float64)`")
      .Case("bool", "use `tl.int1`, or `x != 0`")
      .Cases({"int", "int_"}, "use `tl.int32`, or `x.to(tl.int32)`")
      .Case("long", "use `tl.int64`, or `x.to(tl.int64)`")
      .Cases({"type_as", "astype"}, "use `x.to(dtype)`")
      .Cases({"inf", "nan"}, "use `float(\"inf\")`, `float(\"nan\")`")
      .Cases({"pi", "e"}, "use `math.pi`, `math.e`, behind `import math`")
      .Cases({"matmul", "mm", "bmm", "einsum"}, "use `tl.dot(a, b)`")
      .Case("power_of_2", "use `triton.next_power_of_2`")
      .Cases({"thread_id", "threadIdx"},
             "programs work on blocks: elements are told apart by `tl.arange`")
      .Cases({"syncthreads", "barrier"}, "use `tl.debug_barrier()`")
      .Case("libdevice", "use `from triton.language.extra import libdevice`")
      .Case("clip", "use `tl.clamp(x, low, high)`")
      .Cases({"size", "dim", "ndim"}, "use `x.shape[i]` and `len(x.shape)`")
      .Case("shape", "it is no function: `x.shape[i]`")
      .Case("t", "use `x.T` or `tl.trans(x)`")
      .Case("contiguous", "blocks have no strides; leave it out")
      .Default("");
}
