//===- HandChanges.h - what kernels that somebody wrote change -----------===//
#ifndef TILE_PASSES_GRAPH_HANDCHANGES_H
#define TILE_PASSES_GRAPH_HANDCHANGES_H

#include "ir/graph/Graph.h"

namespace tile::graph {

/// What inside of a kernel that somebody wrote is changed to this result; null: nothing, it is
/// written whole.
mlir::BlockArgument changedInside(mlir::OpResult result);
/// The same outside, of any value.
mlir::Value changedBy(mlir::Value value);
/// Changes another argument instead.
void giveInstead(mlir::OpResult result, mlir::BlockArgument argument);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_HANDCHANGES_H
