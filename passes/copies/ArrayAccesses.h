//===- ArrayAccesses.h - who else reads or writes what a store does --------===//
//
// An asynchronous store is not ordered with a program's other accesses, nor with itself in the
// next turn of a loop: it is made of stores that are alone, and whose turns write apart.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_COPIES_ARRAYACCESSES_H
#define TILE_PASSES_COPIES_ARRAYACCESSES_H

#include "passes/copies/TensorMaps.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

/// The accesses of a kernel, by what their pointers come from.
class ArrayAccesses {
public:
  explicit ArrayAccesses(StridedAnalysis &analysis) : analysis(analysis) {}
  void note(mlir::Operation *op);
  /// Whether nothing else accesses the arrays of `store`. Other blocks of the same array do not
  /// count.
  bool isOnly(mlir::Operation *store);
  /// What pointers come from that something may write to.
  const llvm::DenseSet<mlir::Value> &written() const { return writtenRoots; }

private:
  bool areSideBySide(StoreOp first, StoreOp second);

  StridedAnalysis &analysis;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 2>> byRoot;
  llvm::DenseSet<mlir::Value> writtenRoots;
};

/// Whether one program may execute `op` more than once.
bool isRepeated(mlir::Operation *op);
/// Whether each turn of the one loop around `store` writes elsewhere.
bool turnsWriteApart(mlir::Operation *store, const TileAccess &tile);

} // namespace tile

#endif // TILE_PASSES_COPIES_ARRAYACCESSES_H
