//===- SplitGrid.h - an axis of the grid that counts two things -*- C++ -*-===//
//
// A kernel with a linear grid finds out by division which block a program has, and of which head:
//
//   %p = tile.program_id 0               %block = tile.program_id 0
//   %block = arith.remsi %p, %n    =>    %head = tile.program_id 1
//   %head = arith.divsi %p, %n
//
// Started as a grid of two axes, n along the one and along the other as many as that leaves, it
// does the same, and neighbours along either are in sight. What n is, launches work out of
// arguments
// (`cta.grid_splits`); where it does not divide the grid, another form of the kernel is started.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_SCHEDULE_SPLITGRID_H
#define TILE_PASSES_SCHEDULE_SPLITGRID_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// An axis of the grid that is two: it keeps `size` programs, the others count along `to`.
struct SplitAxis {
  int32_t axis = 0, to = 0;
  mlir::Value size;
  cta::SplitAttr launch; ///< the same to a launcher
};
/// One that `kernel` makes itself, if there is an axis left for it.
std::optional<SplitAxis> findSplitAxis(mlir::func::FuncOp kernel);
/// Makes it one of the grid.
void splitGrid(mlir::func::FuncOp kernel, const SplitAxis &split);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_SPLITGRID_H
