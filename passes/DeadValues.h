//===- DeadValues.h - remove what nothing observable needs ----------------===//
#ifndef TILE_PASSES_DEADVALUES_H
#define TILE_PASSES_DEADVALUES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

/// Operations and values that the effects in `block` depend on: through
/// operands, the bounds and conditions of the control flow around them, and
/// what loops carry. An effect is an op that may write or do more than read.
struct Liveness {
  llvm::DenseSet<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Value> values;
  explicit Liveness(mlir::Block &block);
};

/// Erases operations that no effect depends on, and what loops and branches
/// carry for nobody.
void eraseDeadValues(mlir::Block &block);

} // namespace tile

#endif // TILE_PASSES_DEADVALUES_H
