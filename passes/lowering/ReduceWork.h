//===- ReduceWork.h - what reductions across warps cost ---------*- C++ -*-===//
//
// Warps that share the axis of a reduction leave their partial results in shared memory. There are
// three ways on from there, and the cost of each is told here:
//
// - alone: each thread combines the parts of those results that it needs, so that nothing has to
//   be handed around. All warps that need a result combine it again.
// - lanes: those lanes of a warp that need the same result read some of its parts each.
// - together: the threads of all warps share out the results, or the parts of each. Every result is
//   combined once, and handed around through shared memory behind one more barrier. It pays where
//   combining two elements is work and a thread needs several results.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_REDUCEWORK_H
#define TILE_PASSES_LOWERING_REDUCEWORK_H

#include "ir/TileDialect.h"
#include "ir/layout/LinearLayout.h"
#include "passes/memory/Costs.h"
#include <algorithm>

namespace tile::lowering {

/// In an ordered reduction: how many times the lanes and warps of the axis follow each other.
unsigned repeatsOf(const layout::LinearLayout &layout, unsigned axis);

/// Of `own` parts of a result, `bytes` each, how many a thread reads at once where they lie side by
/// side.
inline unsigned partsAtOnce(unsigned own, unsigned bytes) {
  constexpr unsigned kMostBytes = 16;
  return std::min(own, kMostBytes / bytes);
}

/// Issue slots of a warp for what combines two elements.
unsigned costOfCombining(ReduceOp op);
/// Of butterflies over `lanes` bits of lanes for `results` results, where in the first `halvings`
/// of them two lanes share the results out, and hand them around in the end.
Cost costOfLanes(ReduceOp op, double results, unsigned lanes, unsigned halvings);
/// How often it is less work, for a thread block of `warps`, to share the results out.
unsigned halvingsOf(ReduceOp op, unsigned results, unsigned lanes, unsigned warps);

/// A reduction, and what is known of it before it is lowered.
struct ReduceWork {
  ReduceOp op;
  const layout::LinearLayout &layout;
  unsigned axis;
  bool isOrdered;
  unsigned repeats;    ///< 1 unless ordered
  unsigned numThreads; ///< that compute together

  explicit ReduceWork(ReduceOp op);

  /// How many partial results there are of each result: one for each warp that shares the axis,
  /// and each repeat.
  unsigned partsOfResult();
  /// Of all threads.
  int64_t results();
  /// Whether results of butterflies are the same bits in all lanes.
  bool isOneCommutativeOperation();
  /// ... for combining the results of `warps` warps, of which each lane reads `own`.
  unsigned costOfSharing(unsigned warps, unsigned own);
  /// ... for all results that a warp takes up alone.
  unsigned costOfTakingUp();
  /// The bits of the warps that need not know the results: they are stored by others.
  unsigned warpsWithoutUse();
  /// The bits of the lanes that need the same result.
  unsigned lanesOfOneResult();
  /// The bits of the lanes that share out the results of `warps` warps, of those that have the
  /// same row: of one operation, as few as leave each lane `Tuning::partialsOfLane` bytes; of
  /// more, as many as make it least work.
  unsigned lanesToShare(unsigned warps);
  /// How many neighbouring threads combine a result if all threads do it together, a power of two
  /// and at most a warp; 0 where each does it alone. What tile-allocate-scratch made room for, as
  /// soon as it has; before, what takes less.
  unsigned threadsOfResult();

  /// Wavefronts of a warp that reads what it takes up, beyond those of its bytes: parts of all
  /// results that it needs, or, where all threads have combined them together, the results.
  double conflictsAlone();
  double conflictsTogether();

private:
  /// 0 where together is no less work than alone. Goes by layouts and by who uses the results.
  unsigned chooseThreadsOfResult();
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_REDUCEWORK_H
