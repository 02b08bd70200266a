//===- ShortIntegers.h - arithmetic of 8 and 16 bits ----------*- C++ -*-===//
#ifndef TILE_COMPILER_SHORTINTEGERS_H
#define TILE_COMPILER_SHORTINTEGERS_H

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// Extrema of integers of 8 and 16 bits become such of 32 bits, and sums of two integers of 16 bits
/// in a register become operations on the whole register; behind whatever would undo it.
/// Conversions of two floats of 8 bits have operands that the assembler does not know.
void widenShortIntegers(llvm::Function &f);

} // namespace tile

#endif // TILE_COMPILER_SHORTINTEGERS_H
