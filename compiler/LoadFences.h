//===- LoadFences.h - loads of straight code in groups --------*- C++ -*-===//
#ifndef TILE_COMPILER_LOADFENCES_H
#define TILE_COMPILER_LOADFENCES_H

#include "target/Target.h"

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// Keeps the assembler from loading at the beginning of a long straight kernel what is used at its
/// end.
void groupLoads(llvm::Function &kernel, const Target &target);

} // namespace tile

#endif // TILE_COMPILER_LOADFENCES_H
