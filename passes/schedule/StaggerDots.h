//===- StaggerDots.h - each product's result used under the next ----------===//
#ifndef TILE_PASSES_SCHEDULE_STAGGERDOTS_H
#define TILE_PASSES_SCHEDULE_STAGGERDOTS_H
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Staggers a loop of consumers with several products whose results are used element by
/// element; false, and nothing changed, if it is none or has no room for that.
bool staggerDots(mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_STAGGERDOTS_H
