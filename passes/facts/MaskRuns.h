//===- MaskRuns.h - masks that change once within a group ------------------===//
//
// A group of elements that one instruction could move often has a mask that is true for
// all of it or for none, and only where the array ends true for a part: `i < n`. That part
// is one interval, as comparisons of a run with a number are, and conjunctions of them.
// Of an interval the first and the last element say whether it is all of a group.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_MASKRUNS_H
#define TILE_PASSES_FACTS_MASKRUNS_H

#include "passes/facts/AxisInfo.h"

namespace tile {

/// Which part of a group may be true.
enum class MaskPart {
  Interval, ///< any elements that follow each other
  Start     ///< as many as may be, from the first on
};

/// The length (a power of two) of aligned runs along `axis` in each of which the true
/// elements of `mask` are such a part, if there are any.
int64_t maskRun(mlir::Value mask, unsigned axis, MaskPart part, AxisInfoAnalysis &axes);
/// How many elements of each row along `axis` may be true, from the first on: all others are known
/// to be false.
int64_t mostTrue(mlir::Value mask, unsigned axis, AxisInfoAnalysis &axes);

} // namespace tile

#endif // TILE_PASSES_FACTS_MASKRUNS_H
