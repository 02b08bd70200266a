//===- Normalize.h - the patterns of graph-normalize -----------------------===//
#ifndef TILE_PASSES_GRAPH_NORMALIZE_H
#define TILE_PASSES_GRAPH_NORMALIZE_H

#include "ir/graph/Graph.h"
#include "mlir/IR/PatternMatch.h"

namespace tile::graph {

/// Elements of a row that are combined one by one, as maps, at most (SmallReductions.cpp).
inline constexpr int64_t kFewReduced = 8;

/// Products of rows that are one dimension for them alone (Reshapes.cpp).
void addJoinedRowsPatterns(mlir::RewritePatternSet &patterns);
/// Products whose rows are wanted in another order (TurnedProducts.cpp).
void addTurnedProductPatterns(mlir::RewritePatternSet &patterns);
/// Scores whose softmax is taken in another order than the products' (SinkOrders.cpp).
void addSinkOrderPatterns(mlir::RewritePatternSet &patterns);
/// Softmaxes that are right operands of products (TurnedProducts.cpp).
void addFlippedProductPatterns(mlir::RewritePatternSet &patterns);
/// Reductions of a few numbers (SmallReductions.cpp).
void addSmallReductionPatterns(mlir::RewritePatternSet &patterns);
/// Reductions of everything that pairs give (SmallReductions.cpp).
void addPairReductionPatterns(mlir::RewritePatternSet &patterns);
/// Whether a value is computed of arrays that each repeat along some of its dimensions.
bool isOfRepeatedArrays(mlir::Value value);
/// Products of a matrix and a vector (VectorProducts.cpp).
void addVectorProductPatterns(mlir::RewritePatternSet &patterns);
/// Powers by small numbers of the source (Powers.cpp).
void addPowerPatterns(mlir::RewritePatternSet &patterns);

/// The product with its dimensions in the order `dims`; null if it cannot have it
/// (TurnedProducts.cpp).
MatmulOp turnedProduct(mlir::PatternRewriter &rewriter, MatmulOp product,
                       llvm::ArrayRef<int64_t> dims);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_NORMALIZE_H
