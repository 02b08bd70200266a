//===- CopyPlaces.h - where a copied block lies, in pieces of what size ---===//
//
// A part of tile-pipeline-loads. A piece of a copy (cp.async) is what lies side by side in global
// memory, where the load proves it to be aligned, and in shared memory, too. So of the
// arrangements that suit those who read the block (matrix instructions, warpgroup products,
// threads), the one is chosen that is copied in the largest pieces; what has to be turned for a
// product is turned behind the copy, where that takes less than to copy it in small ones.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_COPIES_COPYPLACES_H
#define TILE_PASSES_COPIES_COPYPLACES_H

#include "passes/copies/Pipeline.h"

namespace tile {

inline constexpr unsigned kLeastCopyBytes = 4; ///< of one cp.async

/// Chooses buffer and width of the copy, of which load and value are known; false if its pieces
/// would be too small. Changes no operation.
bool placeCopy(Copy &copy);

} // namespace tile

#endif // TILE_PASSES_COPIES_COPYPLACES_H
