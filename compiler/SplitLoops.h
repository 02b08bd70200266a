//===- SplitLoops.h - a loop for each side of a condition ------*- C++ -*-===//
#ifndef TILE_COMPILER_SPLITLOOPS_H
#define TILE_COMPILER_SPLITLOOPS_H

namespace llvm {
class DominatorTree;
class LoopInfo;
} // namespace llvm

namespace tile {

/// Instructions of the longest loop that the assembler is expected to make four turns of one.
/// Judgement: it unrolls none of which four turns are much longer.
inline constexpr unsigned kMostUnrolled = 80;

/// Makes two of inner loops that ask at each turn what no turn changes. Needs loops in the form
/// that LLVM's loop passes leave. Whether any was changed.
bool splitLoops(llvm::LoopInfo &loops, llvm::DominatorTree &dominators);

} // namespace tile

#endif // TILE_COMPILER_SPLITLOOPS_H
