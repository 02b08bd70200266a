//===- AlternateTiles.h - groups of consumers take tiles by turns ---------===//
#ifndef TILE_PASSES_ALTERNATETILES_H
#define TILE_PASSES_ALTERNATETILES_H

#include "ir/CtaDialect.h"

namespace tile {

/// How the remark on a loop starts that groups cannot take by turns; the reason follows.
inline constexpr llvm::StringLiteral kNoTurns = "its blocks are not computed by turns: ";

/// Gives each group of the consumers of `roles` its share of the loop that
/// tile-alternate-tiles has marked, and makes them go through it by turns.
void takeTurns(cta::RolesOp roles, mlir::ValueRange rings);

} // namespace tile

#endif // TILE_PASSES_ALTERNATETILES_H
