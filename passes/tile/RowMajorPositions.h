//===- RowMajorPositions.h - elements of blocks by their row-major positions -------===//
#ifndef TILE_PASSES_TILE_ROWMAJORPOSITIONS_H
#define TILE_PASSES_TILE_ROWMAJORPOSITIONS_H

#include "ir/TileDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tile {

/// A block that is the number everywhere.
mlir::Value integer(mlir::ImplicitLocOpBuilder &b, int64_t value, mlir::RankedTensorType type);

/// `tile.gather` on elements of any type.
mlir::Value gather(mlir::ImplicitLocOpBuilder &b, mlir::Value src, mlir::Value index,
                   unsigned axis);

/// Whether the row-major positions of both shapes stay the same when their sizes become powers of
/// two: wherever dimensions are merged or divided only the outermost grows.
bool keepsPositions(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Positions in a row-major block of shape `from` as positions in one of shape `to`, for the same
/// coordinates.
mlir::Value relocated(mlir::ImplicitLocOpBuilder &b, mlir::Value at, llvm::ArrayRef<int64_t> from,
                      llvm::ArrayRef<int64_t> to);

} // namespace tile

#endif // TILE_PASSES_TILE_ROWMAJORPOSITIONS_H
