//===- StagingLayouts.h - blocks that turn on their way to a product --------===//
//
// Warpgroup instructions read operands of 8 and 32 bits only where they are contiguous along
// the dimension that is summed over. A block that is contiguous along the other one is turned
// by the threads: each reads a small square by vectors of one direction, and writes it by
// vectors of the other.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LAYOUTS_STAGINGLAYOUTS_H
#define TILE_PASSES_LAYOUTS_STAGINGLAYOUTS_H

#include "ir/CtaDialect.h"
#include "passes/memory/Costs.h"

namespace tile {

/// Layouts with a square in each thread, whose lanes lie along one dimension or the other.
/// `fast`: the dimension along which the block is contiguous before.
llvm::SmallVector<layout::LinearLayout> turningLayouts(llvm::ArrayRef<int64_t> shape, unsigned fast,
                                                       unsigned bytes, unsigned numWarps);

struct Turning {
  layout::LinearLayout layout; ///< of the threads that turn the block
  lowering::Cost cost;         ///< of a read of the whole, and of writing it
};

/// The cheapest way from `from` to `to`, both arrangements in shared memory.
Turning cheapestTurning(const layout::LinearLayout &from, const layout::LinearLayout &to,
                        mlir::Type element, unsigned numWarps, const Target &target);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_STAGINGLAYOUTS_H
