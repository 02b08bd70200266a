//===- ProductOrders.h - products whose dimensions come in another order ---===//
//
// Several dimensions may be rows of a product whose right operand is the same along them, and which
// of them is its rows and which count products is chosen by whoever writes it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_GRAPH_PRODUCTORDERS_H
#define TILE_IR_GRAPH_PRODUCTORDERS_H

#include "ir/graph/Graph.h"

namespace tile::graph {

/// What computes scores of a product until another product takes them.
bool isBetweenProducts(mlir::Operation *op);
/// Whether a value is computed of a product.
bool isOfProduct(mlir::Value value);
/// Whether a product is computed of a value.
bool isForProduct(mlir::Value value);
/// Whether no operand of a product is computed of another one.
bool isFirstProduct(MatmulOp product);
/// Whether it is another order of all dimensions of a product, and the next product takes what is
/// computed of it.
bool isOrderForNext(RearrangeOp op);

/// Whether a value is of a softmax, or becomes one, that is an operand of a product.
bool isOfSoftmaxForProduct(mlir::Value value);

/// A product with its dimensions in another order: which views of the operands it multiplies, as
/// `graph.rearrange` has dimensions.
struct ProductOrder {
  bool isSwapped = false; ///< the right operand becomes the left one
  llvm::SmallVector<int64_t> left, right;
};
/// With the dimensions `dims`, the last two of which are its rows and columns: rows of one operand
/// alone, and columns of the other. Nothing if they are not.
std::optional<ProductOrder> orderOf(MatmulOp product, llvm::ArrayRef<int64_t> dims);

} // namespace tile::graph

#endif // TILE_IR_GRAPH_PRODUCTORDERS_H
