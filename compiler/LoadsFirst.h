//===- LoadsFirst.h - loads of straight code start together ---*- C++ -*-===//
#ifndef TILE_COMPILER_LOADSFIRST_H
#define TILE_COMPILER_LOADSFIRST_H

#include "target/Target.h"

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// Keeps the assembler from starting loads of a straight kernel behind the uses of others, where
/// enough programs have the registers for all at once. For kernels without a launch bound.
void startLoadsTogether(llvm::Function &kernel, const Target &target, int sharedBytes);

} // namespace tile

#endif // TILE_COMPILER_LOADSFIRST_H
