//===- PointerRoots.h - where the addresses of an access come from --------===//
#ifndef TILE_PASSES_POINTERROOTS_H
#define TILE_PASSES_POINTERROOTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

/// Whether the pointers in the result come from the first operand.
bool passesPointerOn(mlir::Operation *op);

/// Adds the pointers that `pointer` may be computed from: arguments of the
/// kernel, or whatever else pointers come from. Accesses through different
/// roots are taken not to meet.
void collectRoots(mlir::Value pointer, llvm::DenseSet<mlir::Value> &roots);

/// Whether `pointer` may be computed from one of `roots`.
bool comesFrom(mlir::Value pointer, const llvm::DenseSet<mlir::Value> &roots);

} // namespace tile

#endif // TILE_PASSES_POINTERROOTS_H
