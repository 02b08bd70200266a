//===- OperandsAhead.h - operands computed under the product before -------===//
#ifndef TILE_PASSES_SCHEDULE_OPERANDSAHEAD_H
#define TILE_PASSES_SCHEDULE_OPERANDSAHEAD_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Whether `operand` is written to shared memory by the threads in each turn of `loop`, for
/// products of the loop alone, which may read it from two places by turns.
bool canAlternate(mlir::Value operand, mlir::scf::ForOp loop);

/// Whether there is shared memory for second places of all such operands of the loop's products,
/// without a program less on a multiprocessor.
bool haveRoomToAlternate(mlir::scf::ForOp loop);

/// Gives all such operands two places by turns. The loop is made anew.
mlir::scf::ForOp alternateOperands(mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_OPERANDSAHEAD_H
