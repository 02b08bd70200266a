//===- GatherHistogram.h - gather and histogram, through shared memory -*- C++ -*-===//
//
// Both go through the scratch memory that the operation has been given, with barriers of their own.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_GATHERHISTOGRAM_H
#define TILE_PASSES_LOWERING_GATHERHISTOGRAM_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

mlir::LogicalResult lowerGather(Core &core, GatherOp op);
mlir::LogicalResult lowerHistogram(Core &core, HistogramOp op);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_GATHERHISTOGRAM_H
