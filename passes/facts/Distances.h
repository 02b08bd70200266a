//===- Distances.h - how far apart neighbours of a block are likely to lie ===//
//
// Where nothing says that elements along some dimension are consecutive (rows
// that wrap, strides that only the launch knows), one dimension is still a better
// guess for the lanes of a warp than another. This is that guess, and no more: an
// order of dimensions may rest on it, the width of an access may not.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_DISTANCES_H
#define TILE_PASSES_FACTS_DISTANCES_H

#include "passes/facts/AxisInfo.h"

namespace tile {

/// What nothing can be guessed about is so far apart.
inline constexpr int64_t kFarApart = int64_t(1) << 30;

/// Between neighbours of `block` (of integers or pointers) along `axis`, in elements: 0 where
/// they are equal, at most kFarApart. Where indices wrap (`%`), between two that do not.
int64_t likelyDistance(mlir::Value block, unsigned axis, AxisInfoAnalysis &axes);
/// The least that it can be, if strides that only the launch knows are no less than what they are
/// known to be multiples of.
int64_t leastDistance(mlir::Value block, unsigned axis, AxisInfoAnalysis &axes);
/// Neighbours along `axis` that likely lie so far apart one after the other: up to where an index
/// wraps, or a quotient changes, of a divisor that is known. One that only the launch knows is most
/// likely large.
int64_t likelyRun(mlir::Value block, unsigned axis, AxisInfoAnalysis &axes);
/// Whether that is no guess: constants alone say how far neighbours along `axis` are apart.
bool isConstantDistance(mlir::Value block, unsigned axis, AxisInfoAnalysis &axes);

} // namespace tile

#endif // TILE_PASSES_FACTS_DISTANCES_H
