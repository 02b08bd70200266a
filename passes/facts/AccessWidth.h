//===- AccessWidth.h - how much of memory one access may move -------------===//
#ifndef TILE_PASSES_FACTS_ACCESSWIDTH_H
#define TILE_PASSES_FACTS_ACCESSWIDTH_H

#include "passes/facts/AxisInfo.h"

namespace tile {

/// Of one access.
inline constexpr unsigned kVectorBytes = 16;

/// The pointers of a load, store or atomic operation, and its mask (null: none); no pointers for
/// other operations.
struct Accessed {
  mlir::Value ptr, mask;
  static Accessed by(mlir::Operation *op);
};

/// Whether an atomic operation may move more than one element at a time, as loads and stores do.
bool addsNeighbours(mlir::Operation *op);

/// The pointers, by the author's word (`tl.multiple_of(p, 16)`) only where the mask is the same for
/// as many bytes: Triton follows it no further, and kernels are written whose rows do not lie as
/// they say, behind masks that end anywhere.
mlir::Value believedPointer(const Accessed &access, unsigned axis, AxisInfoAnalysis &axes);

/// Neighbours along `axis` that a thread may move at once by `op`, an access of a block: as many
/// as lie side by side from a multiple of their bytes on, all or none behind the mask. `isCopied`:
/// a load that will be a copy, of the first elements of a group at most.
int64_t neighboursAtOnce(mlir::Operation *op, unsigned axis, AxisInfoAnalysis &axes,
                         bool isCopied = false);

} // namespace tile

#endif // TILE_PASSES_FACTS_ACCESSWIDTH_H
