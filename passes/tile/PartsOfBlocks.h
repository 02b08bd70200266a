//===- PartsOfBlocks.h - blocks taken apart along their last dimension ----===//
#ifndef TILE_PASSES_TILE_PARTSOFBLOCKS_H
#define TILE_PASSES_TILE_PARTSOFBLOCKS_H

#include "ir/TileDialect.h"
#include "mlir/IR/Builders.h"
#include <optional>

namespace tile::parts {

inline mlir::RankedTensorType blockOf(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}

/// The number that all elements of a block are, if that is known.
std::optional<int64_t> numberOf(mlir::Value v);

/// The block with its last two dimensions as one.
mlir::Value asOne(mlir::OpBuilder &b, mlir::Location loc, mlir::Value block);
/// The reverse: groups of so many elements in a last dimension.
mlir::Value inGroups(mlir::OpBuilder &b, mlir::Location loc, mlir::Value block, int64_t count);

/// What is one behind the other in the last dimension, a power of two of them: blocks without it.
/// Written to every `step`-th of the parts from the first one on.
void takeHalves(mlir::OpBuilder &b, mlir::Location loc, mlir::Value block,
                llvm::MutableArrayRef<mlir::Value> parts, size_t first = 0, size_t step = 1);

/// The reverse: a block with all of them, a power of two, in a last dimension; of one that itself.
mlir::Value putTogether(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> parts);

} // namespace tile::parts

#endif // TILE_PASSES_TILE_PARTSOFBLOCKS_H
