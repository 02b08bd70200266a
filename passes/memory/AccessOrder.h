//===- AccessOrder.h - global memory that several threads use -------------===//
//
// What a program loads and stores by the same pointers is in order (docs/language.md), whoever
// holds it: the thread that stores an element need not be the one that loads it, once a
// layout has been chosen for each of the two, or where several threads hold copies. So is what a
// program loads and stores with its atomic operations on that memory, and before a single number
// that releases: one thread does that for all of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_MEMORY_ACCESSORDER_H
#define TILE_PASSES_MEMORY_ACCESSORDER_H

#include "mlir/IR/Operation.h"

namespace tile {

/// Whether a load and a store, or two stores, in either order, are by the same pointers, and
/// another thread may hold an element in the one than in the other. `isOfEarlierTurn`: the first
/// is of a turn before of a loop around both, which hands its variables on to this one.
bool meetAcrossThreads(mlir::Operation &first, mlir::Operation &second, bool isOfEarlierTurn);

/// Whether one of the two is an atomic operation and the other a load or store of memory from the
/// same argument, which another thread may do.
bool meetsAtomic(mlir::Operation &first, mlir::Operation &second);

/// Whether `op` is an atomic operation on a single number that releases what the program has done.
bool releasesForAll(mlir::Operation &op);

} // namespace tile

#endif // TILE_PASSES_MEMORY_ACCESSORDER_H
