//===- Chain.h - products of what others give --------------------------------===//
//
// softmax(f(q @ k)) @ v needs each score once if the second product takes powers that are
// relative to the largest score so far, and what it has added up is scaled when a larger one
// is found. The sum that a softmax divides by is one number a row: it divides the result.
//
// f(a @ b, c @ d) @ e, element by element, needs each of the first products' elements once, too.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_CHAIN_H
#define TILE_PASSES_GRAPH_CHAIN_H

#include "ir/graph/Graph.h"

namespace tile::graph {

/// Blocks of the first products of a chain lie in registers together.
inline constexpr size_t kMostFirsts = 2;

/// What lies between products.
struct Chain {
  llvm::SmallVector<MatmulOp, 2> firsts; ///< of a softmax one
  MatmulOp second;
  mlir::Value scores; ///< what the maximum is of, or what `second` multiplies, element by element
  ReduceOp maximum;   ///< of the scores of a row; null: there is no softmax
  MapOp power;        ///< exp or exp2 of scores relative to it: what `second` multiplies
  llvm::SmallVector<ReduceOp, 1> sums; ///< of powers

  bool hasSoftmax() const { return bool(maximum); }
};

/// The chain that ends in a product, if there is one: its left operand is powers, perhaps
/// rounded, or is computed of other products element by element.
std::optional<Chain> findChain(MatmulOp second);
/// A product of what is computed of others, which have its dimensions in front: its left operand is
/// computed a block at a time, for all of its columns.
std::optional<Chain> plainChainOf(MatmulOp second);
/// Marks it, if it can be one kernel with them.
void chainPlainly(MatmulOp second);
/// Whether a product is one kernel with the products that its left operand is computed of.
bool isOneKernel(MatmulOp second);
/// The softmax whose powers a value is, perhaps rounded; `second` is not set.
std::optional<Chain> softmaxOf(mlir::Value powers);
/// A value before it was rounded.
mlir::Value unrounded(mlir::Value value);
/// The operations of a chain, in order: those that need `firsts`, and what is computed of places.
llvm::SmallVector<mlir::Operation *> operationsOf(const Chain &chain);
/// Whether a value is computed of nothing but places and numbers.
bool isOfIndices(mlir::Operation *op);
/// Gives each user its own copy of what is computed of places or known numbers, which is cheaper to
/// compute again than to store, and of views, which are nothing but other indices.
void separateViews(mlir::Block &block);
/// Whether a number is known to be above 0.
bool isPositive(mlir::Value value);
/// All that needs a value, in the block.
llvm::SmallPtrSet<mlir::Operation *, 16> usersOf(mlir::Value value);
/// The operand of which a value is a multiple, element by element, or 0, as dropout makes it.
mlir::OpOperand *maskedOf(mlir::Value value);
/// -inf, as a constant.
bool isLowest(mlir::Value value);
/// 0, as a constant.
bool isZero(mlir::Value value);
/// Erases what nobody uses any more, from the end.
void eraseUnused(mlir::Block &block);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_CHAIN_H
