//===- BulkRings.h - rows of later iterations, by bulk copies -------------===//
#ifndef TILE_PASSES_COPIES_BULKRINGS_H
#define TILE_PASSES_COPIES_BULKRINGS_H

#include "ir/CtaDialect.h"
#include "passes/facts/StridedAccess.h"

namespace tile {

/// A load of rows: each of them consecutive in memory and in the slot.
struct RowLoad {
  LoadOp load;
  cta::BufferType buffer;
  mlir::Value base;
  llvm::SmallVector<Polynomial, 1> starts; ///< of each row, in elements from `base`
  /// Elements of each row that are read: all, or the smallest of these.
  llvm::SmallVector<Polynomial, 1> limits;
  /// How many rows are: all, or the smallest of these, which may change.
  llvm::SmallVector<Polynomial, 1> counts;
};

/// The loads of one loop that become bulk copies into one ring.
struct BulkRing {
  mlir::scf::ForOp loop;
  llvm::SmallVector<RowLoad, 2> loads;
  int32_t stages = 1;
  bool scalarsAhead =
      false; ///< what the loop loads beside for few registers is loaded a turn before

  cta::RingType type() const;
};

/// The ring for the rows that `loop` loads, if there are any that can be copied
/// `stages` iterations ahead.
std::optional<BulkRing> planBulkRing(mlir::scf::ForOp loop, int32_t stages, int64_t leastRowBytes);
void makeBulkRing(BulkRing &ring);

} // namespace tile

#endif // TILE_PASSES_COPIES_BULKRINGS_H
