//===- Overwrites.h - whether later turns load what a loop stores ----------===//
//
// Scans in place, chunk states that become sums of those before them, gradients written over what
// they are computed from: a turn loads a block and stores to the same place, and the next goes on
// behind it. The memory is one argument's, but what later turns load was there before the loop, and
// may be loaded ahead.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_OVERWRITES_H
#define TILE_PASSES_FACTS_OVERWRITES_H

#include "ir/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

/// Whether `load`, which stands in `loop`, may see what the loop has stored in an earlier turn, or
/// before it in the same, through one of `written` (writtenIn). It does not where start and strides
/// of both say that the load's block has gone on, all of it, to where no store of an earlier turn
/// was.
bool maySeeStores(LoadOp load, mlir::scf::ForOp loop, const llvm::DenseSet<mlir::Value> &written);

} // namespace tile

#endif // TILE_PASSES_FACTS_OVERWRITES_H
