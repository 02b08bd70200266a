//===- Reductions.h - reductions and scans along an axis -*- C++ -*-===//
//
// Elements are combined in each thread, over the lanes of a warp, and then over warps through the
// scratch memory that the operation has been given, with barriers of its own. The combiner is a
// function of elements, which the core runs.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_REDUCTIONS_H
#define TILE_PASSES_LOWERING_REDUCTIONS_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

mlir::LogicalResult lowerReduce(Core &core, ReduceOp op); // Reduce.cpp
mlir::LogicalResult lowerScan(Core &core, ScanOp op);     // Scan.cpp

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_REDUCTIONS_H
