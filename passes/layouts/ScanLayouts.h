//===- ScanLayouts.h - where a scan is computed ----------------------------===//
//
// A scan is cheap where the axis runs within threads, and dear where it runs over many
// lanes, warps and repeats: each of those is a round of shuffles or a way through shared
// memory. Moving the block there and back costs too. `cheapestForScan` compares.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LAYOUTS_SCANLAYOUTS_H
#define TILE_PASSES_LAYOUTS_SCANLAYOUTS_H

#include "ir/CtaDialect.h"

namespace tile {

/// A block that lives, or is wanted, somewhere.
struct PlacedBlock {
  layout::LinearLayout layout;
  mlir::Type element;
};

/// The layout that costs least with the way of `operands` into it and of `results` out of
/// it: one of `first`, of theirs, or one made for the scan. `first` among equals.
layout::LinearLayout cheapestForScan(ScanOp op, const layout::LinearLayout &first,
                                     llvm::ArrayRef<PlacedBlock> operands,
                                     llvm::ArrayRef<PlacedBlock> results, unsigned numWarps);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_SCANLAYOUTS_H
