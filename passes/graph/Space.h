//===- Space.h - the indices that a kernel goes over ----------------------===//
//
// Operations can be one kernel if they go over one space of indices: each dimension of
// each value is a dimension of the space. Views and transposes are then nothing but
// another order of dimensions, and cost nothing.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_SPACE_H
#define TILE_PASSES_GRAPH_SPACE_H

#include "passes/graph/Chain.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::graph {

/// For each dimension of a value the dimension of the space; -1 where it is 1.
using DimMap = llvm::SmallVector<int, 4>;

struct Space {
  struct Dim {
    Size size;
    bool isReduced = false;
    bool isPartial = false; ///< combined in parts, by `graph.partial`
  };
  /// The matrix product, if there is one, and its dimensions; -1 where one is 1.
  MatmulOp product;
  llvm::SmallVector<MatmulOp, 2> products; ///< with others of the same left operand
  int rows = -1, columns = -1, inner = -1;
  /// If the product takes what others give: that, and the dimensions that those add up.
  std::optional<Chain> chain;
  llvm::SmallVector<int, 2> depths;
  llvm::SmallVector<Dim, 4> dims; ///< outermost first
  /// What the operations compute.
  llvm::DenseMap<mlir::Value, DimMap> values;
  /// What they read, by use: one array may be read in several orders.
  llvm::DenseMap<mlir::OpOperand *, DimMap> uses;

  bool hasReductions() const {
    return llvm::any_of(dims, [](const Dim &dim) { return dim.isReduced; });
  }
  bool hasPartials() const {
    return llvm::any_of(dims, [](const Dim &dim) { return dim.isPartial; });
  }
};

/// A number is part of every kernel that uses it.
bool isFree(mlir::Operation *op);
/// Dimensions of a value that are not one.
size_t dimensionsOf(mlir::Value value);
/// How messages call an operation: "`sum` in line 12".
std::string spelled(mlir::Operation *op);

/// The space of operations, given in order; nothing, and `reason`, if there is none. With
/// `haveOtherUsers` those that stand outside do not count: they will be gone.
std::optional<Space> findSpace(llvm::ArrayRef<mlir::Operation *> ops, std::string &reason,
                               bool haveOtherUsers = false);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_SPACE_H
