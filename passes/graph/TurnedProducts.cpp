//===- TurnedProducts.cpp - products in the order that is wanted of them ---===//
//
// Several dimensions may be rows of a product whose right operand is the same along them, and which
// is its rows and which count products is chosen by whoever writes it: attention whose heads share
// keys, as an einsum "bshd,btd->bhst", has heads as rows, and puts them in front of the queries
// behind that. What becomes of the scores then has other rows than the scores, and they would be
// stored. The product has the rows of the order that is wanted instead, and its left operand is
// read in that order.
//
//===----------------------------------------------------------------------===//
#include "ir/graph/Graph.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/Sources.h"

using namespace mlir;
using namespace tile::graph;

static bool isBetweenProducts(Operation *op) {
  return isa_and_nonnull<MapOp, CastOp, RearrangeOp, ReduceOp>(op);
}

/// Whether a value is computed of a product.
static bool isOfProduct(Value value) {
  bool found = false;
  visitSources(value, [&](Value source) {
    found |= source.getDefiningOp<MatmulOp>() != nullptr;
    return isBetweenProducts(source.getDefiningOp());
  });
  return found;
}

/// Whether a product is computed of a value.
static bool isForProduct(Value value) {
  SmallVector<Operation *> next(value.user_begin(), value.user_end());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    if (isa<MatmulOp>(op))
      return true;
    if (isBetweenProducts(op))
      next.append(op->user_begin(), op->user_end());
  }
  return false;
}

namespace {
struct TurnProduct : OpRewritePattern<RearrangeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RearrangeOp op, PatternRewriter &rewriter) const override {
    auto product = op.getSrc().getDefiningOp<MatmulOp>();
    ArrayRef<int64_t> dims = op.getDims();
    if (!product || !product->hasOneUse() || dims.size() < 3 ||
        dims.size() != product.getType().sizes().size() || llvm::is_contained(dims, -1))
      return failure();
    int64_t rows = int64_t(dims.size()) - 2, columns = rows + 1, wanted = dims[rows];
    if (dims[columns] != columns || wanted == rows || !isForProduct(op.getResult()) ||
        isOfProduct(product.getLhs()) || isOfProduct(product.getRhs()))
      return failure();
    Sizes left = typeOf(product.getLhs()).sizes(), right = typeOf(product.getRhs()).sizes();
    // Where a dimension of the result is along an operand; -1: that is the same along it.
    auto along = [&](const Sizes &sizes, int64_t dim) {
      int64_t own = dim - int64_t(dims.size() - sizes.size());
      return own < 0 || sizes[own].isConstant(1) ? -1 : own;
    };
    if (along(right, wanted) >= 0)
      return failure();
    SmallVector<int64_t> ofLeft, ofRight;
    for (int64_t i = 0; i < columns; ++i)
      ofLeft.push_back(along(left, dims[i]));
    for (int64_t i = 0; i < rows; ++i)
      ofRight.push_back(dims[i] == rows ? -1 : along(right, dims[i]));
    ofLeft.push_back(int64_t(left.size()) - 1);
    ofRight.push_back(int64_t(right.size()) - 2);
    ofRight.push_back(int64_t(right.size()) - 1);
    Value x = arranged(rewriter, op.getLoc(), product.getLhs(), ofLeft);
    Value y = arranged(rewriter, op.getLoc(), product.getRhs(), ofRight);
    rewriter.replaceOpWithNewOp<MatmulOp>(op, op.getType(), x, y);
    return success();
  }

private:
  static Value arranged(PatternRewriter &rewriter, Location loc, Value value,
                        ArrayRef<int64_t> dims) {
    Sizes sizes;
    for (int64_t dim : dims)
      sizes.push_back(dim < 0 ? Size(1) : typeOf(value).sizes()[dim]);
    auto type = GraphTensorType::of(rewriter.getContext(), sizes, typeOf(value).getElement());
    return RearrangeOp::create(rewriter, loc, type, value, dims);
  }
};
} // namespace

void tile::graph::addTurnedProductPatterns(RewritePatternSet &patterns) {
  patterns.add<TurnProduct>(patterns.getContext());
}
