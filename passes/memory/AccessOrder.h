//===- AccessOrder.h - global memory that several threads use -------------===//
//
// The same element of blocks of one shape is in order where a program loads and stores memory of
// one argument (docs/language.md), whoever holds it: the thread that stores it need not be the one
// that loads it, once a layout has been chosen for each of the two, or where several threads hold
// copies, or where it is loaded from anywhere (partners that are looked up or worked out), as the
// thread of that element. What several threads load is so in front of a store through another
// argument, too, which may be the same memory. So is what a program loads and stores with its
// atomic operations on that memory, and before one on a single number that releases: one thread
// does that for all of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_MEMORY_ACCESSORDER_H
#define TILE_PASSES_MEMORY_ACCESSORDER_H

#include "mlir/IR/Operation.h"

namespace tile {

/// Whether a load and a store, in either order, are of memory of one argument, or two stores by the
/// same pointers, and another thread may hold an element of these blocks in the one than in the
/// other, or loads from anywhere. So are two stores of blocks of different shapes to memory of one
/// argument that are not known to be side by side: a part of what has been stored is stored anew.
bool meetAcrossThreads(mlir::Operation &first, mlir::Operation &second);

/// Whether `first` loads what several threads hold and `second` stores as many elements, equally
/// wide, through another argument: both may be one array that is worked on in place, where each
/// element is read before it is written. The same where one of them is several accesses in one, and
/// the other is not.
bool mayBeInPlace(mlir::Operation &first, mlir::Operation &second);

/// Whether one of the two is an atomic operation and the other a load or store of memory from the
/// same argument, which another thread may do.
bool meetsAtomic(mlir::Operation &first, mlir::Operation &second);

/// Whether `op` is an atomic operation on a single number that releases what the program has done.
bool releasesForAll(mlir::Operation &op);

} // namespace tile

#endif // TILE_PASSES_MEMORY_ACCESSORDER_H
