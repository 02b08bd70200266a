//===- ScatterRows.h - rows that are added up where numbers say ------------===//
//
// Rows that are added to those of an array that numbers in memory name, as the derivatives of rows
// that were taken of a table are, are a product: of a matrix that has a one where a number is the
// row's, and of the rows. Of a small table that is fast, and adds in one order. Of a large one
// nearly all of the matrix is zero: three kernels clear the sums, add each row to its own by atomic
// additions, and do the rest. Which it is sizes decide (compiler/functions).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_SCATTERROWS_H
#define TILE_PASSES_GRAPH_SCATTERROWS_H

#include "passes/graph/KernelShape.h"

namespace tile::graph {

/// Which rows of the result those of the right operand are added to, as the product's left operand
/// compares them; null: the product is another.
mlir::OpOperand *rowsAddedTo(const KernelShape &shape);

/// The kernel that adds them to the sums.
void emitScatter(const KernelShape &shape, const Cut &cut, mlir::ModuleOp module);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_SCATTERROWS_H
