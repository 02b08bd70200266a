//===- AccessOrder.h - global memory that several threads use -------------===//
//
// What a program loads and stores by the same pointers is in order (docs/language.md), whoever
// holds it: the thread that stores an element need not be the one that loads it, once a
// layout has been chosen for each of the two, or where several threads hold copies.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_MEMORY_ACCESSORDER_H
#define TILE_PASSES_MEMORY_ACCESSORDER_H

#include "mlir/IR/Operation.h"

namespace tile {

/// Whether a load and a store, or two stores, in either order, are by the same pointers, and
/// another thread may hold an element in the one than in the other.
bool meetAcrossThreads(mlir::Operation &first, mlir::Operation &second);

} // namespace tile

#endif // TILE_PASSES_MEMORY_ACCESSORDER_H
