//===- SinkConversions.h - all loads first, then what moves between threads ===//
#ifndef TILE_PASSES_LAYOUTS_SINKCONVERSIONS_H
#define TILE_PASSES_LAYOUTS_SINKCONVERSIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// Moves conversions past the loads of their block that follow, to their first uses.
void sinkConversions(mlir::func::FuncOp func);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_SINKCONVERSIONS_H
