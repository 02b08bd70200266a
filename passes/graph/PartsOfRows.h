//===- PartsOfRows.h - what is combined of rows, by a kernel of its own ----===//
//
// A kernel that reduces rows combines the results of all of them in parts, so that they need not be
// stored: a mean of losses. Its programs share the rows. Of few rows, each as long as a picture or
// a column of a large array, most of the chip has nothing to do then; a kernel that only reduces
// them can have programs that share each row (RowSteps.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_PARTSOFROWS_H
#define TILE_PASSES_GRAPH_PARTSOFROWS_H

#include "passes/graph/KernelShape.h"

namespace tile::graph {

/// Whether all that the kernel combines in parts is one number of each row that it reduces.
bool hasPartsOfRows(const KernelShape &shape);

/// Makes a kernel behind `op`, which has such parts, that combines them, and one in the place of
/// `op` that stores what they are combined of. Gives that one.
KernelOp storeRows(KernelOp op);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_PARTSOFROWS_H
