//===- KnownComparisons.h - comparisons that loops decide ------*- C++ -*-===//
#ifndef TILE_PASSES_TILE_KNOWNCOMPARISONS_H
#define TILE_PASSES_TILE_KNOWNCOMPARISONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// Comparisons that hold, or do not, whatever turn a loop with constant bounds is in become
/// constants: masks of accesses that never end inside of a block. What such a loop asks whether
/// it is in its first turn is decided by taking that turn before it.
void settleComparisons(mlir::func::FuncOp kernel);

/// Of these only what branches ask: one that every turn takes would keep a product apart from what
/// is done before and behind it.
void settleBranches(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_TILE_KNOWNCOMPARISONS_H
