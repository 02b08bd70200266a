//===- TileSteps.h - a loop over the steps of one tile after the other ----===//
#ifndef TILE_PASSES_TILE_TILESTEPS_H
#define TILE_PASSES_TILE_TILESTEPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// `if condition` as a branch, or as a selection: what a turn does, and what its results are, where
/// the condition holds and where it does not.
struct Choice {
  mlir::Operation *op;
  mlir::scf::IfOp branch() const { return llvm::dyn_cast<mlir::scf::IfOp>(op); }
  mlir::Value then(unsigned i) const {
    return branch() ? branch().thenYield().getOperand(i) : op->getOperand(1);
  }
  mlir::Value otherwise(unsigned i) const {
    return branch() ? branch().elseYield().getOperand(i) : op->getOperand(2);
  }
};

/// A loop whose turns are the steps of one tile after the other: `next` counts them from 0 to
/// `last`, and begins again.
struct TileSteps {
  explicit TileSteps(mlir::scf::ForOp loop) : loop(loop), body(loop.getBody()) {}
  /// Whether it is such a loop: fills in what follows.
  bool find();
  /// What a value of a turn is in the last step of a tile, and in all others.
  mlir::Value inLastStep(mlir::Value v) const;
  mlir::Value inOtherSteps(mlir::Value v) const;

  mlir::scf::ForOp loop;
  mlir::Block *body;
  mlir::BlockArgument counter;
  mlir::Operation *counting[3] = {}; ///< comparison, addition and selection of the counter
  mlir::Value next, last;
  llvm::SmallVector<Choice> firsts, lasts;
  llvm::DenseMap<mlir::Value, Choice> lastOf; ///< the choice in the last step that gives a value
  llvm::DenseMap<mlir::Value, std::pair<Choice, unsigned>> firstOf;
  /// Of what the loop carries, by its number: the value of the first step's choice that it is in
  /// all steps of a tile; itself, if it stays; null, if steps change it.
  llvm::SmallVector<mlir::Value> kept;

private:
  bool findCounter();
  bool isCounter(mlir::BlockArgument arg, mlir::Value init);
  bool findChoices();
  bool isInOrder();
  bool findKept();
};

} // namespace tile

#endif // TILE_PASSES_TILE_TILESTEPS_H
