//===- SplitLoops.h - a loop for each side of a condition ------*- C++ -*-===//
#ifndef TILE_COMPILER_SPLITLOOPS_H
#define TILE_COMPILER_SPLITLOOPS_H

namespace llvm {
class DominatorTree;
class LoopInfo;
} // namespace llvm

namespace tile {

/// Makes two of inner loops that ask at each turn what no turn changes. Needs loops in the form
/// that LLVM's loop passes leave. Whether any was changed.
bool splitLoops(llvm::LoopInfo &loops, llvm::DominatorTree &dominators);

} // namespace tile

#endif // TILE_COMPILER_SPLITLOOPS_H
