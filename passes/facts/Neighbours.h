//===- Neighbours.h - what programs side by side have in common -*- C++ -*-===//
#ifndef TILE_PASSES_FACTS_NEIGHBOURS_H
#define TILE_PASSES_FACTS_NEIGHBOURS_H

#include "ir/CtaDialect.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

/// What of a kernel may have another value in another program: what comes of the program's number,
/// through operands, what loops carry and branches give. The counter of a loop does not differ
/// where only the loop's bounds do: a turn that several programs run has the same number in each.
/// Whether all of them run it is another question, which the bounds answer.
class Neighbours {
public:
  /// In the next program along an axis of the grid. All read the same memory.
  Neighbours(mlir::func::FuncOp kernel, int32_t axis);
  /// In another turn of a loop, over programs or within one: what it carries may differ, and so may
  /// what is read from memory, since turns run at different times.
  explicit Neighbours(mlir::scf::ForOp turns);

  bool differ(mlir::ValueRange values) const {
    return llvm::any_of(values, [&](mlir::Value v) { return differing.contains(v); });
  }

private:
  void add(mlir::ValueRange values);
  void followAll();
  void follow(mlir::OpOperand &use);
  void followIntoLoop(mlir::scf::ForOp loop, mlir::OpOperand &use);

  llvm::DenseSet<mlir::Value> differing;
  llvm::SmallVector<mlir::Value> open;
};

} // namespace tile

#endif // TILE_PASSES_FACTS_NEIGHBOURS_H
