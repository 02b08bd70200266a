//===- EarlyDots.h - products issued early and waited for late ------------===//
#ifndef TILE_PASSES_SCHEDULE_EARLYDOTS_H
#define TILE_PASSES_SCHEDULE_EARLYDOTS_H
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Lets the products of one turn of a loop of consumers run under each other's arithmetic; false,
/// and nothing changed, if none can or there are no registers for it.
bool issueDotsEarly(mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_EARLYDOTS_H
