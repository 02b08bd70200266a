//===- EarlyReads.h - what a kernel may read before others have ended -----===//
#ifndef TILE_COMPILER_FUNCTIONS_EARLYREADS_H
#define TILE_COMPILER_FUNCTIONS_EARLYREADS_H

#include "compiler/functions/TensorProgram.h"

namespace tile {

/// Whether an array of a kernel that multiplies was there before the function ran, and the kernel
/// before it is launched and, like all others, does not write there.
bool isThereEarly(const TensorProgram &program, unsigned kernel, unsigned array,
                  const graph::Bindings &sizes, llvm::ArrayRef<TensorPlace> places);

} // namespace tile

#endif // TILE_COMPILER_FUNCTIONS_EARLYREADS_H
