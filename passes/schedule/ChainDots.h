//===- ChainDots.h - the next product under what is done with this one ----===//
#ifndef TILE_PASSES_SCHEDULE_CHAINDOTS_H
#define TILE_PASSES_SCHEDULE_CHAINDOTS_H
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Takes a loop of consumers apart whose last product multiplies, from registers, what became of
/// the result of another; false, and nothing changed, if it is none or has no registers for it.
bool chainDots(mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_CHAINDOTS_H
