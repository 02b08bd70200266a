//===- RowLevels.h - in how many passes rows are gone through -------------===//
//
// A row that is too long for registers is gone through once for each reduction that needs the
// result of another, and once more for what is stored. A sum of powers needs no pass of its own
// behind the maximum that they are relative to.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_ROWLEVELS_H
#define TILE_PASSES_GRAPH_ROWLEVELS_H

#include "passes/graph/KernelShape.h"

namespace tile::graph {

class RowLevels {
public:
  explicit RowLevels(const KernelShape &shape) : shape(shape), op(shape.op) {}

  /// How many reductions must be finished before the value can be known.
  unsigned of(mlir::Value value);
  /// Before all values can.
  unsigned last();
  /// The pass that stores a result which goes along rows: the first that knows it. But where
  /// results lie in what is read, and a later pass reads that, the last pass stores them all.
  unsigned storedIn(mlir::Value result);
  /// Whether a pass that goes along the rows for a value reads an array for it, whatever is known
  /// of the rows by then.
  bool reads(mlir::Value value, mlir::BlockArgument array);
  /// The maximum beside which a sum can be added up in one pass; null: none.
  ReduceOp carriedMaximum(ReduceOp sum);
  /// All operations' results that need a value.
  llvm::SmallVector<mlir::Value> usersOf(mlir::Value value);
  KernelShape::Form formOfSource(ReduceOp reduce);

private:
  ReduceOp maximumOf(mlir::Value value);
  std::optional<unsigned> findLastPass();

  const KernelShape &shape;
  KernelOp op;
  llvm::DenseMap<mlir::Value, unsigned> known;
  bool hasLooked = false;
  std::optional<unsigned> lastPass; ///< that stores, if no earlier one may
};

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_ROWLEVELS_H
