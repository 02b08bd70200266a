//===- AlternateTiles.h - groups of consumers take tiles by turns ---------===//
#ifndef TILE_PASSES_SCHEDULE_ALTERNATETILES_H
#define TILE_PASSES_SCHEDULE_ALTERNATETILES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// How the remark on a loop starts that groups cannot take by turns; the reason follows.
inline constexpr llvm::StringLiteral kNoTurns = "its blocks are not computed by turns: ";

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_ALTERNATETILES_H
