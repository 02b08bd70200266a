//===- PointerRoots.h - what decides whether a load can become a copy -----===//
#ifndef TILE_PASSES_FACTS_POINTERROOTS_H
#define TILE_PASSES_FACTS_POINTERROOTS_H

#include "ir/TileDialect.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

/// Whether the pointers in the result come from the first operand.
bool passesPointerOn(mlir::Operation *op);

/// Adds the pointers that `pointer` may be computed from: arguments of the
/// kernel, or whatever else pointers come from. Accesses through different
/// roots are taken not to meet.
void collectRoots(mlir::Value pointer, llvm::DenseSet<mlir::Value> &roots);

/// Adds the pointers that `op`, a store of whatever kind, writes through; false if it
/// is none.
bool collectWritten(mlir::Operation *op, llvm::DenseSet<mlir::Value> &roots);
/// The same, also if `op` is atomic.
bool collectChanged(mlir::Operation *op, llvm::DenseSet<mlir::Value> &roots);

/// Whether elements that `load`'s mask switches off read as zeros, which is what
/// asynchronous copies leave there.
bool readsZerosOutside(LoadOp load);

/// Whether `pointer` may be computed from one of `roots`.
bool comesFrom(mlir::Value pointer, const llvm::DenseSet<mlir::Value> &roots);

} // namespace tile

#endif // TILE_PASSES_FACTS_POINTERROOTS_H
