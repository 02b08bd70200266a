//===- RowCopies.h - who copies the rows of a loop ------------------------===//
#ifndef TILE_PASSES_COPIES_ROWCOPIES_H
#define TILE_PASSES_COPIES_ROWCOPIES_H

#include "passes/copies/BulkRings.h"
#include "passes/copies/Pipeline.h"

namespace tile {

/// The copies by the threads of all that `ring` would bring in bulk, if a turn takes less with
/// them; nothing if one thread is to start bulk copies.
std::optional<Pipeline> threadsInPlaceOf(const BulkRing &ring);

} // namespace tile

#endif // TILE_PASSES_COPIES_ROWCOPIES_H
