//===- JoinedStores.h - operands that are written one behind the other -----===//
//
// What threads write to shared memory for a product is read behind a fence and a barrier. Of
// operands that are written one behind the other the last one's do for all of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_MEMORY_JOINEDSTORES_H
#define TILE_PASSES_MEMORY_JOINEDSTORES_H

#include "ir/CtaDialect.h"

namespace tile {

/// Who reads an operand that threads write: products of warpgroups, behind a fence; loads of the
/// threads, behind a barrier alone; or both.
enum class OperandReaders { None, Products, Threads, Both };

/// Who reads what `op` writes; None if it is no write of an operand (`cta.fill`, `cta.stage`).
OperandReaders readersOfWritten(mlir::Operation *op);

/// The operation that writes an operand (`cta.fill`, `cta.stage`) and has the barrier of `op`,
/// which writes another before it for the same readers, products or threads. Nothing between them
/// reads shared memory or waits for other threads. Null if `op` has its own.
mlir::Operation *meetsLater(mlir::Operation *op);

/// Whether threads write an operand for products between `wait` and the first product behind it:
/// the fence of that is theirs for what has landed, too.
bool isFencedLater(cta::AsyncWaitOp wait);

} // namespace tile

#endif // TILE_PASSES_MEMORY_JOINEDSTORES_H
