//===- ColumnParts.h - blocks part by part along their columns ------------===//
//
// What tile-split-columns knows of parts, and where their operations stand.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_TILE_COLUMNPARTS_H
#define TILE_PASSES_TILE_COLUMNPARTS_H

#include "ir/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

struct Part {
  int64_t first, size;
};

/// Powers of two, the largest first; none if there are fewer than two, or small ones.
llvm::SmallVector<Part> partsOf(int64_t columns, int64_t fewest);
llvm::SmallVector<Part> equalParts(int64_t columns, int64_t number);

/// Has one result, element by element.
bool givesOneElementwise(mlir::Operation *op);

/// Whether all runs that are promised have a power of two of elements.
bool haveEvenRuns(mlir::func::FuncOp kernel);
/// What is promised of the whole is so of a part as far as the part's start and size are multiples
/// of it, in powers of two: an aligned run of 256 has aligned runs of 64 in a part of 64, whose
/// first element is the run's first and 64, 128 or 192.
void promiseOfPart(HintOp hint, unsigned axis, Part part);

/// Moves what only `store` needs behind `before`, an earlier store of its block: parts
/// are worked on one after another, so that one at a time needs registers for that.
void sinkTo(StoreOp store, StoreOp before);

/// Moves what loops do with a part of a product behind what they do with the part before: the
/// whole of one part is done with before the next one is computed.
void orderByParts(mlir::func::FuncOp kernel,
                  const llvm::DenseMap<mlir::Operation *, unsigned> &partOf, unsigned number);

} // namespace tile

#endif // TILE_PASSES_TILE_COLUMNPARTS_H
