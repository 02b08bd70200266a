//===- ElementsInTurn.h - what is computed of each element comes together -*- C++ -*-===//
#ifndef TILE_COMPILER_ELEMENTSINTURN_H
#define TILE_COMPILER_ELEMENTSINTURN_H

#include "target/Target.h"

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// Orders long straight computations of `kernel` element by element, where operation by operation
/// they need more registers than a thread has, or than leave room for another program.
void computeElementsInTurn(llvm::Function &kernel, const Target &target, int sharedBytes);

} // namespace tile

#endif // TILE_COMPILER_ELEMENTSINTURN_H
