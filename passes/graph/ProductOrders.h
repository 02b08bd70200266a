//===- ProductOrders.h - products whose dimensions come in another order ---===//
#ifndef TILE_PASSES_GRAPH_PRODUCTORDERS_H
#define TILE_PASSES_GRAPH_PRODUCTORDERS_H

#include "ir/graph/Graph.h"
#include "mlir/IR/PatternMatch.h"

namespace tile::graph {

/// What computes scores of a product until another product takes them.
bool isBetweenProducts(mlir::Operation *op);
/// Whether a value is computed of a product.
bool isOfProduct(mlir::Value value);
/// Whether all operands of a product are computed without another one.
bool isFirstProduct(MatmulOp product);
/// The product with its dimensions in the order `dims`, the last two of which are its rows and
/// columns: rows of one operand alone, and columns of the other. Null if they are not.
MatmulOp turnedProduct(mlir::PatternRewriter &rewriter, MatmulOp product,
                       llvm::ArrayRef<int64_t> dims);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_PRODUCTORDERS_H
