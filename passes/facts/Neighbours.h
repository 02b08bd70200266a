//===- Neighbours.h - what programs side by side have in common -*- C++ -*-===//
#ifndef TILE_PASSES_FACTS_NEIGHBOURS_H
#define TILE_PASSES_FACTS_NEIGHBOURS_H

#include "ir/CtaDialect.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

/// What of a kernel may have another value in the next program along an axis of the grid. The
/// counter of a loop does not differ where only the loop's bounds do: a turn that several programs
/// run has the same number in each.
class Neighbours {
public:
  Neighbours(mlir::func::FuncOp kernel, int32_t axis);
  bool differ(mlir::ValueRange values) const {
    return llvm::any_of(values, [&](mlir::Value v) { return differing.contains(v); });
  }

private:
  void add(mlir::ValueRange values);
  void follow(mlir::OpOperand &use);
  void followIntoLoop(mlir::scf::ForOp loop, mlir::OpOperand &use);

  llvm::DenseSet<mlir::Value> differing;
  llvm::SmallVector<mlir::Value> open;
};

} // namespace tile

#endif // TILE_PASSES_FACTS_NEIGHBOURS_H
