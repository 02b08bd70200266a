//===- ChainBounds.h - columns of scores that nobody sees ------------------===//
//
// Masks that are made of comparisons of places, such as `row >= column`, say which columns
// a block of rows can see at all, and which all of its rows see.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_CHAINBOUNDS_H
#define TILE_PASSES_GRAPH_CHAINBOUNDS_H

#include "passes/graph/KernelShape.h"

namespace tile::graph {

/// One end of the columns that a row sees: `factor * row + sum of terms + constant`, itself seen.
struct ColumnBound {
  bool isUpper = false; ///< the last column; else the first
  int64_t factor = 0;
  int64_t constant = 0;
  /// Numbers that the program's rows have in common, each so many times.
  llvm::SmallVector<std::pair<mlir::OpOperand *, int64_t>, 2> terms;
};

/// A comparison that scores are masked by, and what it is where they count.
struct MaskComparison {
  mlir::Value value;
  bool wanted = true;
  llvm::SmallVector<ColumnBound, 2> bounds;
};

/// The comparisons that scores must pass, or are -inf: those that bound columns.
llvm::SmallVector<MaskComparison> comparisonsOf(const KernelShape &scores, mlir::Value value);
/// The same of what is 0 where they are not passed: powers of such scores, and multiples of those.
llvm::SmallVector<MaskComparison> comparisonsOfFactor(const KernelShape &scores, mlir::Value value);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_CHAINBOUNDS_H
