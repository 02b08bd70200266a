//===- RotateDots.h - results of products used under the next product -----===//
#ifndef TILE_PASSES_SCHEDULE_ROTATEDOTS_H
#define TILE_PASSES_SCHEDULE_ROTATEDOTS_H
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Rotates a loop of consumers with one product whose result is used element by
/// element; false, and nothing changed, if it is none or does not profit.
bool rotateDot(mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_ROTATEDOTS_H
