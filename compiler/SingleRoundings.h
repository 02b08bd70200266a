//===- SingleRoundings.h - values rounded to bf16 by themselves -----------===//
#ifndef TILE_COMPILER_SINGLEROUNDINGS_H
#define TILE_COMPILER_SINGLEROUNDINGS_H

#include "target/Target.h"

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// Floats that `f` rounds to bf16 one by one are rounded as pairs with a zero, which takes no
/// conversion unit.
void roundAsPairs(llvm::Function &f, const Target &target);

} // namespace tile

#endif // TILE_COMPILER_SINGLEROUNDINGS_H
