//===- Chain.h - products with a softmax between them ----------------------===//
//
// softmax(f(q @ k)) @ v needs each score once if the second product takes powers that are
// relative to the largest score so far, and what it has added up is scaled when a larger one
// is found. The sum that a softmax divides by is one number a row: it divides the result.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_CHAIN_H
#define TILE_PASSES_GRAPH_CHAIN_H

#include "ir/graph/Graph.h"

namespace tile::graph {

/// On a product, a string: why it is not one kernel with the product whose softmax it takes.
inline constexpr llvm::StringLiteral kUnchainedAttr = "graph.unchained";

/// What lies between two products.
struct Chain {
  MatmulOp first, second;
  mlir::Value scores; ///< what the maximum is of, computed of `first` element by element
  ReduceOp maximum;   ///< of the scores of a row
  MapOp power;        ///< exp or exp2 of scores relative to it: what `second` multiplies
  llvm::SmallVector<ReduceOp, 1> sums; ///< of powers
};

/// The chain that ends in a product, if there is one: its left operand is powers, perhaps
/// rounded.
std::optional<Chain> findChain(MatmulOp second);
/// The operations of a chain, in order: those that need `first`, and what is computed of places.
llvm::SmallVector<mlir::Operation *> operationsOf(const Chain &chain);
/// Whether a value is computed of nothing but places and numbers.
bool isOfIndices(mlir::Operation *op);
/// Gives each user its own copy of what is computed of places, which is cheaper to compute again
/// than to store, and of views, which are nothing but other indices.
void separateViews(mlir::Block &block);
/// Whether a number is known to be above 0.
bool isPositive(mlir::Value value);
/// -inf, as a constant.
bool isLowest(mlir::Value value);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_CHAIN_H
