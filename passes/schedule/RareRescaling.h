//===- RareRescaling.h - sums scaled when a maximum grows -------*- C++ -*-===//
#ifndef TILE_PASSES_SCHEDULE_RARERESCALING_H
#define TILE_PASSES_SCHEDULE_RARERESCALING_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// A part of tile-defer-reductions. `loop` is replaced if it is of that form: returns the new one,
/// else null.
mlir::scf::ForOp rescaleRarely(mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_RARERESCALING_H
