//===- DeviceLibrary.h - the math functions kernels call ------------------===//
//
// Device math as LLVM bitcode inside the compiler, so that NVIDIA's libdevice
// file is not needed. How a lowering uses it:
//
//   1. Ask deviceFunctionForMath("exp", 64) (the mnemonic of a `math` op and the
//      width of the float type) or deviceFunctionForLibdevice("__nv_sinf") for
//      the symbol. An empty answer: the library has no such function.
//   2. Emit a plain call to that symbol, declared with the scalar C signature
//      (float -> float, double -> double, ...).
//   3. Once the module is LLVM IR, and before optimisation, call
//      linkDeviceLibrary(module). It links only what is called, makes it
//      internal and leaves modules without such calls untouched.
//
// Symbols are `__tile_NAMEf` for f32 and `__tile_NAME` for f64, with NAME as in
// <math.h>. f16 and bf16 have none: widen to f32 first.
//
// What `math` ops on f32 mean follows what Triton kernels observe: exp is one
// multiplication and ex2.approx, exp2, sqrt and rsqrt are the hardware's
// approximations; README.md has the error of every function.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DEVICELIB_DEVICELIBRARY_H
#define TILE_DEVICELIB_DEVICELIBRARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace tile {

/// All functions begin so; nothing else in a module may.
inline constexpr llvm::StringLiteral deviceFunctionPrefix = "__tile_";

/// The library, an LLVM bitcode file for nvptx64. 4-byte aligned, lives forever.
llvm::StringRef deviceLibraryBitcode();

/// True if the library defines `symbol`.
bool deviceLibraryHas(llvm::StringRef symbol);

/// The symbol for the math-dialect operation `math.<mnemonic>` on floats of
/// `width` bits (32 or 64); empty if the library has none.
llvm::StringRef deviceFunctionForMath(llvm::StringRef mnemonic, unsigned width);

/// The symbol that stands for libdevice's `__nv_*` function of the same
/// signature; empty if the library has none.
llvm::StringRef deviceFunctionForLibdevice(llvm::StringRef name);

/// Links the functions that `module` declares and calls. The result is internal
/// to the module; `alwaysinline` except for rare paths.
llvm::Error linkDeviceLibrary(llvm::Module &module);

} // namespace tile

#endif // TILE_DEVICELIB_DEVICELIBRARY_H
