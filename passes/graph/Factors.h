//===- Factors.h - what a value is a product of, element by element ---------===//
#ifndef TILE_PASSES_GRAPH_FACTORS_H
#define TILE_PASSES_GRAPH_FACTORS_H

#include "ir/graph/Graph.h"

namespace tile::graph {

/// `elements[0] * elements[1] * ...`, but 0 where a mask says so, with each row scaled.
struct Factors {
  /// Numbers of rows, or of all: what multiplies, or divides.
  struct Scaling {
    mlir::Value by;
    bool divides = false;
    bool operator==(const Scaling &) const = default;
  };
  /// Where the condition is as wanted it is not 0.
  struct Mask {
    mlir::Value condition;
    bool wanted = true;
    bool operator==(const Mask &) const = default;
  };
  llvm::SmallVector<mlir::Value, 2> elements;
  llvm::SmallVector<Scaling, 2> scalings;
  llvm::SmallVector<Mask, 1> masks;
  bool isNegative = false;

  static Factors of(mlir::Value value);
  /// Whether `other` has the same masks, and all scalings.
  bool divides(const Factors &other) const;
  /// What `other`, which divides this, does not scale by.
  Factors without(const Factors &other) const;
  /// A value, masked and scaled so.
  mlir::Value applied(mlir::OpBuilder &b, mlir::Value value) const;
  /// Numbers of rows, scaled.
  mlir::Value scaled(mlir::OpBuilder &b, mlir::Value value, GraphTensorType type) const;

private:
  void add(mlir::Value value);
};

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_FACTORS_H
