//===- StagingLayouts.h - operands on their way to shared memory ------------===//
//
// Warpgroup instructions read operands of 16 bits in either direction: those lie as their
// threads write them best.
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

/// How an operand lies that `holders` write: as `buffer` says, or, if products read its
/// elements in either direction, as it is written at least cost.
layout::LinearLayout cheapestImage(const layout::LinearLayout &holders, cta::BufferType buffer,
                                   const Target &target);

/// Where threads hold an operand of two dimensions that they compute, to write it at least cost.
layout::LinearLayout cheapestWriting(cta::BufferType buffer, unsigned numWarps,
                                     const Target &target);

/// Layouts with a square in each thread, whose lanes lie along one dimension or the other.
/// `fast`: the dimension along which the block is contiguous before.
llvm::SmallVector<layout::LinearLayout> turningLayouts(llvm::ArrayRef<int64_t> shape, unsigned fast,
                                                       unsigned bytes, unsigned numWarps);

/// Of reading a block that lies as `from` says, by `turning`, and writing it as `to` says.
lowering::Cost turningCost(const layout::LinearLayout &turning, const layout::LinearLayout &from,
                           const layout::LinearLayout &to, mlir::Type element,
                           const Target &target);

/// The layout that turns `from` into `to` at least cost.
layout::LinearLayout cheapestTurning(const layout::LinearLayout &from,
                                     const layout::LinearLayout &to, mlir::Type element,
                                     unsigned numWarps, const Target &target);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_STAGINGLAYOUTS_H
