//===- JoinedStores.h - operands that are written one behind the other -----===//
//
// What threads write to shared memory for a product is read behind a fence and a barrier. Of
// operands that are written one behind the other the last one's do for all of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_MEMORY_JOINEDSTORES_H
#define TILE_PASSES_MEMORY_JOINEDSTORES_H

#include "mlir/IR/Operation.h"

namespace tile {

/// The operation that writes an operand (`cta.fill`, `cta.stage`) and has the barrier of `op`,
/// which writes another before it for the same readers: products of warpgroups, then with a fence,
/// or loads of the threads. Nothing between them reads shared memory or waits for other threads.
/// Null if `op` has its own.
mlir::Operation *meetsLater(mlir::Operation *op);

} // namespace tile

#endif // TILE_PASSES_MEMORY_JOINEDSTORES_H
