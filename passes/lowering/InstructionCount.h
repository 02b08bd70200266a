//===- InstructionCount.h - how long a kernel becomes ---*- C++ -*-===//
//
// Everything is written out for each register of a thread. What would take minutes to compile and
// to assemble is refused, at the operation with which it is too much, before that is lowered.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_INSTRUCTIONCOUNT_H
#define TILE_PASSES_LOWERING_INSTRUCTIONCOUNT_H

#include "mlir/IR/Operation.h"

namespace tile::lowering {

class InstructionCount {
public:
  /// Adds what `op` becomes, roughly: an instruction for each register, some for mathematics.
  mlir::LogicalResult add(mlir::Operation *op);
  /// What it adds as a product; to be asked once it is lowered, because one that is too long by
  /// itself says so itself.
  mlir::LogicalResult addProduct(mlir::Operation *op);

private:
  int64_t instructions = 0; ///< of a thread, so far
  unsigned loops = 0;       ///< so far
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_INSTRUCTIONCOUNT_H
