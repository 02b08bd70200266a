//===- Positions.h - blocks made of positions -----------------------------===//
//
// What passes build before layouts exist: the positions along one dimension,
// spread over a block.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_TILE_POSITIONS_H
#define TILE_PASSES_TILE_POSITIONS_H

#include "ir/TileDialect.h"

namespace tile {

/// A one-dimensional block, which runs along dimension `d` of a block of this
/// shape, as all of that block.
mlir::Value spread(mlir::OpBuilder &b, mlir::Location loc, mlir::Value line, unsigned d,
                   llvm::ArrayRef<int64_t> shape);

/// `tile.make_range` from 0 to `length`.
mlir::Value positions(mlir::OpBuilder &b, mlir::Location loc, int64_t length);

/// Replaces an access through a descriptor by one through pointers and a mask;
/// false if `op` is none.
bool expandDescriptor(mlir::Operation *op);

} // namespace tile

#endif // TILE_PASSES_TILE_POSITIONS_H
