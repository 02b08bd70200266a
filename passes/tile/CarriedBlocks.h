//===- CarriedBlocks.h - blocks that grow by a number of each turn --------===//
#ifndef TILE_PASSES_TILE_CARRIEDBLOCKS_H
#define TILE_PASSES_TILE_CARRIEDBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// Blocks of integers or pointers to every element of which a loop adds the same number, another
/// one in each turn, are what they were before the loop and the sum of these numbers, which the
/// loop carries instead. Positions that start as a range can then be computed in the layout of each
/// use. Returns how many there were.
unsigned carrySums(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_TILE_CARRIEDBLOCKS_H
