//===- Divisors.h - divisors that may be zero -----------------*- C++ -*-===//
#ifndef TILE_COMPILER_DIVISORS_H
#define TILE_COMPILER_DIVISORS_H

namespace llvm {
class Module;
} // namespace llvm

namespace tile {

/// Keeps LLVM from concluding that a divisor is not zero; before it optimises.
void hideDivisors(llvm::Module &module);

} // namespace tile

#endif // TILE_COMPILER_DIVISORS_H
