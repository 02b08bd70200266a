//===- FewPrograms.h - what loops load ahead where programs are few --------===//
//
// A part of tile-pipeline-loads. A loop without products does not load ahead of itself unless its
// author asks: the wait of one program is hidden by the others of the multiprocessor. Where a
// multiprocessor has one or two of them (a chain over time, rows that as many programs share as
// there are multiprocessors), nobody hides it. Such loops are found here; the launcher knows the
// grid, and takes a form of the kernel in which they load ahead.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_COPIES_FEWPROGRAMS_H
#define TILE_PASSES_COPIES_FEWPROGRAMS_H

#include "passes/copies/BulkRings.h"
#include "passes/copies/Pipeline.h"

namespace tile {

/// How a loop loads ahead: one of the three.
struct AheadLoop {
  mlir::scf::ForOp loop;
  std::optional<BulkRing> ring;        ///< rows, by bulk copies
  std::optional<Pipeline> pipeline;    ///< blocks, by copies of the threads
  llvm::SmallVector<LoadOp> registers; ///< blocks that are loaded a few turns before, and kept
  int32_t turns = 1;                   ///< of `registers`
  /// Of shared memory, while the loop runs.
  int64_t bytes() const;
};

/// How `loop`, which has no products and no stages of its own, would load ahead; nothing if it
/// has no need, or something of what it loads cannot be known ahead.
std::optional<AheadLoop> planAhead(mlir::scf::ForOp loop);

/// Up to so many programs a multiprocessor gain by `loop`.
int32_t programsThatGain(const AheadLoop &loop);

} // namespace tile

#endif // TILE_PASSES_COPIES_FEWPROGRAMS_H
