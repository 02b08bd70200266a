//===- KnownTurns.h - loops whose turns are known without a counter -------===//
#ifndef TILE_PASSES_TILE_KNOWNTURNS_H
#define TILE_PASSES_TILE_KNOWNTURNS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Whether the turns of a loop follow from constants, as those of a search that halves a constant
/// range do, and are few: the loop is replaced by its turns then, one behind the other.
bool unrollKnownTurns(mlir::scf::WhileOp loop);

} // namespace tile

#endif // TILE_PASSES_TILE_KNOWNTURNS_H
