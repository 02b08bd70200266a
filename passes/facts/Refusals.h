//===- Refusals.h - why a pass held back -----------------------------------===//
//
// A pass that does not do what was asked for says why, by a reason of one list: `refuse`
// makes a remark of it, whose text is for people. What it says the remark also carries as such:
// `readRefusal` gives it, with the operation's location, to `tilec explain`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_REFUSALS_H
#define TILE_PASSES_FACTS_REFUSALS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace tile {

enum class Reason {
  // Forms that do not fit (tile-fit-shared-memory)
  FitsNoTurns,
  FitsNoWarpgroups,
  FitsNoPrograms,
  // Loops in which blocks run several programs (tile-persist-programs)
  PersistBlocksShared,
  PersistNothingCopied,
  PersistInPlace,
  PersistLengthsDiffer,
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
  // Neighbouring programs in one thread block (tile-share-rings)
  ShareNotWarpgroup,
  ShareNeedsRoles,
  ShareNothing,
  ShareDoesMore,
  ShareLoadsDiffer,
  ShareBranches,
  ShareOutOfStep,
  // Warps that only copy (tile-specialize-warps)
  RolesNotWanted,
  RolesNothingToCopy,
  RolesNeedThreads,
  RolesNeedBlocks,
  RolesNeedStores,
  RolesNeedFlags,
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
  FlightNoRoom,
  FlightTakesTurns,
  // Loops (tile-count-loops, tile-unroll-loops, tile-pipeline-loads)
  WhileNotCounted,
  UnrollLongSteps,
  PipelineNeedsMemory,
  // Stores of products in parts (tile-split-columns)
  ColumnsUsedOtherwise,
  SumsUsedOtherwise,
  // Products in parts (tile-share-inner)
  PartsOfProduct,
  PartsShort,
  PartsDear,
  // Rows of later programs (tile-prefetch-programs)
  PrefetchUnknownRows,
  PrefetchShortRows,
  PrefetchManyAtOnce,
  // Single accesses, copied by TMA (tile-warpgroup-dots)
  TileNotTwoDimensional,
  TileNotStrided,
  TileBaseUnknown,
  TileBaseUnaligned,
  TileBaseMoved,
  TileMaskNoRange,
  TileMaskLowerBound,
  TileMaskUpperBounds,
  TileStrideUnknown,
  TileStrideUnaligned,
  TileNotContiguous,
  TileTwiceContiguous,
  TileNarrow,
  TileOffsetUnaligned,
  TileStartUnaligned,
  TileStartNegative,
  TileWrapsUnknown,
  TileBoundsUnknown,
  TileShapeUnknown,
  TileEndsUnaligned,
  TileVolatile,
  TileOtherNotZero,
  TileOutsideNotZero,
  TileHints,
  TileWritten,
  TileNotAhead,
  TileBehindFlag,
  TileOtherMajor,
  TileWrapsStored,
  TileChoicesDiffer,
  TileInRegisters,
  TileStoreLarge,
  TileStoreShortTurn,
  TileStoreNotAlone,
  TileStoreWraps,
  TileStoreFlat,
  TileComputed,
  TileInBranch,
  // by bulk copies (tile-pipeline-loads)
  RowsNoNumbers,
  RowsHints,
  RowsShort,
  RowsOtherChanges,
  RowsNotConsecutive,
  RowsMask,
  RowsUnaligned,
  RowsWritten,
  RowsNotAhead,
  // and by the threads
  CopyVolatile,
  CopyWritten,
  CopyOtherNotZero,
  CopyOtherMajor,
  CopyNarrow,
  CopyGathered,
  CopyHints,
  CopyOrdered,
  CopyInBranch,
  CopyNotAhead,
};

/// Whether a reason is one of a single access; and there, whether the threads might have copied.
constexpr bool isOfAccess(Reason reason) { return reason >= Reason::TileNotTwoDimensional; }
constexpr bool isOfThreadsCopy(Reason reason) { return reason >= Reason::CopyVolatile; }

/// What stands behind a reason.
struct Refusal {
  llvm::StringLiteral pass; ///< "tile-alternate-tiles"
  llvm::StringLiteral what; ///< that was not made: "its blocks are not computed by turns"; of
                            ///< accesses that are not by TMA or in bulk, nothing
  llvm::StringLiteral why;  ///< "a warpgroup has no registers for the sums"
  llvm::StringLiteral wish; ///< as the user knows it: "pingpong"
};
const Refusal &refusalOf(Reason reason);

/// Says on `op` why its pass leaves it as it is.
void refuse(mlir::Operation *op, Reason reason);
/// The reason that a remark gives, if a pass held back by it.
std::optional<Reason> readRefusal(mlir::Diagnostic &remark);

/// Where something was left as it is, and why.
struct Remark {
  mlir::Location at;
  Reason reason;
};

} // namespace tile

#endif // TILE_PASSES_FACTS_REFUSALS_H
