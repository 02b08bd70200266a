//===- DoubleExtrema.h - maxima of doubles and constants -------*- C++ -*-===//
#ifndef TILE_COMPILER_DOUBLEEXTREMA_H
#define TILE_COMPILER_DOUBLEEXTREMA_H

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// The larger, or smaller, of a double and a constant is chosen by a comparison.
void chooseDoubleExtrema(llvm::Function &f);

} // namespace tile

#endif // TILE_COMPILER_DOUBLEEXTREMA_H
