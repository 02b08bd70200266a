//===- SkipLoops.h - loops that do nothing for a false mask ----*- C++ -*-===//
#ifndef TILE_COMPILER_SKIPLOOPS_H
#define TILE_COMPILER_SKIPLOOPS_H

namespace llvm {
class DominatorTree;
class LoopInfo;
} // namespace llvm

namespace tile {

/// Asks in front of inner loops what all of their masks hang on. Needs loops in the form that
/// LLVM's loop passes leave. Whether any was changed.
bool skipLoops(llvm::LoopInfo &loops, llvm::DominatorTree &dominators);

} // namespace tile

#endif // TILE_COMPILER_SKIPLOOPS_H
