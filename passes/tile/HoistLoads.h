//===- HoistLoads.h - what each turn of a loop would load again ------------===//
#ifndef TILE_PASSES_TILE_HOISTLOADS_H
#define TILE_PASSES_TILE_HOISTLOADS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Loads in front of `loop`, which multiplies, what each of its turns loads from the same places,
/// with what is computed from it alone; how many loads those were. Volatile loads stay.
unsigned hoistLoads(mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_TILE_HOISTLOADS_H
