//===- Options.h - what the lowering is asked for -------------------------===//
#ifndef TILE_PASSES_LOWERING_OPTIONS_H
#define TILE_PASSES_LOWERING_OPTIONS_H

#include "llvm/ADT/StringRef.h"

namespace tile::lowering {

/// On a module (unit): to give a ring's slot back, every lane of a warp arrives, instead
/// of one for all behind a barrier of the warp.
inline constexpr llvm::StringLiteral kEachLaneArrivesAttr = "tile.each_lane_arrives";

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_OPTIONS_H
