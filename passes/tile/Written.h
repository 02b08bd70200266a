//===- Written.h - what some operations may write to ----------------------===//
#ifndef TILE_PASSES_TILE_WRITTEN_H
#define TILE_PASSES_TILE_WRITTEN_H

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/facts/PointerRoots.h"

namespace tile {

/// What may have been written to in some part of a block.
struct Written {
  llvm::DenseSet<mlir::Value> roots;
  bool anything = false;

  void add(mlir::Operation *op) {
    op->walk([&](mlir::Operation *inner) {
      anything |= !collectWritten(inner, roots) &&
                  !inner->hasTrait<mlir::OpTrait::IsTerminator>() &&
                  !mlir::isa<PrintOp, AssertOp, AssumeOp, LoadOp, BarrierOp>(inner) &&
                  !mlir::isa<DescriptorLoadOp, DescriptorGatherOp>(inner) &&
                  !inner->getNumRegions() && !mlir::isMemoryEffectFree(inner);
    });
  }
  bool reaches(mlir::Value pointer) const { return anything || comesFrom(pointer, roots); }
};

} // namespace tile

#endif // TILE_PASSES_TILE_WRITTEN_H
