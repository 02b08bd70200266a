//===- SharedOperands.h - operands that products take from shared memory ---===//
//
// A product by matrix instructions takes what a `cta.read` gives step by step, when it multiplies
// it, also under other coordinates: transposed, or repeated.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_SHAREDOPERANDS_H
#define TILE_PASSES_FACTS_SHAREDOPERANDS_H

#include "ir/CtaDialect.h"

namespace tile {

/// Whether `op` gives elements of its operand under other coordinates, each in the thread that has
/// it.
bool isRenaming(mlir::Operation *op);

/// Whether all that becomes of `value` by renaming it are operands, not sums, of products for which
/// `takes` holds.
bool isOnlyOperand(mlir::Value value, llvm::function_ref<bool(DotOp)> takes);

/// What reads an operand, perhaps renamed, from shared memory; null if threads hold it.
cta::ReadOp readOfOperand(mlir::Value operand);

} // namespace tile

#endif // TILE_PASSES_FACTS_SHAREDOPERANDS_H
