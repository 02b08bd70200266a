//===- StoredOperands.h - operands that are computed before a product ------===//
//
// What a product's operand is computed of is computed where the product reads it: for every block
// of rows again what becomes the right operand, for every block of columns what becomes the left
// one. Of few blocks that takes less than to store it; of many it takes longer than the product.
// Whether it pays depends on sizes: launches decide (compiler/functions).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_STOREDOPERANDS_H
#define TILE_PASSES_GRAPH_STOREDOPERANDS_H

#include "passes/graph/KernelShape.h"

namespace tile::graph {

/// What is computed for each element of a product's operand, in instructions of a thread that two
/// elements of 16 bits do not share; 0: it is an array.
double slotsOf(const KernelShape &operand);
/// The same of one operation, for an element.
double slotsOf(MapOp op);

/// What would be stored of an operand of a product: the block that is computed, before it is turned
/// or repeated; null: it is an array, or a chain's scores.
mlir::Value valueToStore(mlir::Value operand);

/// The arrays of the kernel that a value in it is computed of.
llvm::SmallVector<unsigned> arraysBehind(mlir::Value value);

/// Whether operands of this kernel of one product, or of several of one left operand, may be
/// stored by another.
bool canStoreOperands(const KernelShape &shape);

/// Makes a kernel in front of `op` that stores the left operand of its products, or the right one
/// of each, where there is something to store. `op` is gone: this is what has become of it.
KernelOp storeOperands(KernelOp op, bool left, bool right);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_STOREDOPERANDS_H
