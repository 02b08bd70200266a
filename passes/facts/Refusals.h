//===- Refusals.h - why a pass held back -----------------------------------===//
//
// A pass that does not do what was asked for says why, by a reason of one list: `refuse`
// makes a remark of it, `readRefusal` finds it again among the remarks of a compilation, for
// `tilec explain`. Where a single access could not be copied, the remark is on the access,
// and its text belongs to it (PipelinePlan, WarpgroupDots, BulkRings).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_REFUSALS_H
#define TILE_PASSES_FACTS_REFUSALS_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace tile {

enum class Reason {
  // Forms that do not fit (tile-fit-shared-memory)
  FitsNoTurns,
  FitsNoWarpgroups,
  // Groups of warps that take blocks by turns (tile-alternate-tiles)
  TurnsHandOn,
  TurnsDoMore,
  TurnsAccessOutside,
  TurnsStoreEarly,
  TurnsNeedRegisters,
  TurnsCopiesNeedMore,
  TurnsNeedRoles,
  // Clusters (tile-cluster-programs)
  ClusterNoPrograms,
  ClusterDoesMore,
  ClusterNothingShared,
  // Warps that only copy (tile-specialize-warps)
  RolesNotWanted,
  RolesNothingToCopy,
  RolesNeedThreads,
  RolesNeedBlocks,
  RolesNeedStores,
  // Products (tile-warpgroup-dots)
  ProductNeedsWarpgroups,
  ProductOfSeveral,
  ProductSmall,
  ProductShort,
  ProductExact,
  ProductTypes,
  // Products in flight from one iteration to the next (tile-overlap-dots)
  FlightNothing,
  FlightResultsUsed,
  FlightNotInSlots,
  FlightSlotsNeeded,
  FlightTakesTurns,
  // Loops (tile-count-loops, tile-pipeline-loads)
  WhileNotCounted,
  PipelineNeedsMemory,
  // Products in parts (tile-split-columns)
  ColumnsUsedOtherwise,
  // Rows of later programs (tile-prefetch-programs)
  PrefetchUnknownRows,
  PrefetchShortRows,
};

/// What stands behind a reason.
struct Refusal {
  llvm::StringLiteral pass; ///< "tile-alternate-tiles"
  llvm::StringLiteral what; ///< that was not made: "its blocks are not computed by turns"
  llvm::StringLiteral why;  ///< "a warpgroup has no registers for the sums"
  llvm::StringLiteral wish; ///< as the user knows it: "pingpong"
};
const Refusal &refusalOf(Reason reason);

/// Says on `op` why its pass leaves it as it is.
void refuse(mlir::Operation *op, Reason reason);
/// The reason that a remark gives, if it is one of these.
std::optional<Reason> readRefusal(llvm::StringRef remark);

} // namespace tile

#endif // TILE_PASSES_FACTS_REFUSALS_H
