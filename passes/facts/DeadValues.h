//===- DeadValues.h - remove what nothing observable needs ----------------===//
#ifndef TILE_PASSES_FACTS_DEADVALUES_H
#define TILE_PASSES_FACTS_DEADVALUES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile {

/// An op that may write, or do more than read and compute.
bool hasOwnEffect(mlir::Operation *op);

/// Operations and values that the roots in `block` depend on: through operands,
/// the bounds and conditions of the control flow around them, and what loops
/// carry.
struct Liveness {
  llvm::DenseSet<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Value> values;
  Liveness(mlir::Block &block, llvm::function_ref<bool(mlir::Operation *)> isRoot);
};

/// Erases operations that no root depends on, and what loops and branches
/// carry for nobody.
void eraseDeadValues(mlir::Block &block,
                     llvm::function_ref<bool(mlir::Operation *)> isRoot = hasOwnEffect);

} // namespace tile

#endif // TILE_PASSES_FACTS_DEADVALUES_H
