//===- TurnedProducts.cpp - products in the order that is wanted of them ---===//
//
// Several dimensions may be rows of a product whose right operand is the same along them, and which
// is its rows and which count products is chosen by whoever writes it: attention whose heads share
// keys, as an einsum "bshd,btd->bhst", has heads as rows, and puts them in front of the queries
// behind that; or has keys as rows, and is turned. What becomes of the scores then has other rows
// than the scores, and they would be stored. The product has the rows of the order that is wanted
// instead, and its operands are read in that order. So is a softmax the left operand of
// the next product, though it was written as the right one.
//
//===----------------------------------------------------------------------===//
#include "ir/graph/ProductOrders.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/Sources.h"

using namespace mlir;
using namespace tile::graph;

/// Whether a value is a softmax of a product's rows or columns, or made of one element by element:
/// of powers, each of which is compared with others.
static bool isOfPowers(Value value) {
  bool isPower = false, isCompared = false;
  visitSources(value, [&](Value source) {
    auto map = source.getDefiningOp<MapOp>();
    isPower |= map && (map.getKind() == MapKind::exp || map.getKind() == MapKind::exp2) &&
               isOfProduct(source);
    auto reduce = source.getDefiningOp<ReduceOp>();
    isCompared |= reduce && reduce.getKind() == ReduceKind::max && isOfProduct(source);
    return isBetweenProducts(source.getDefiningOp());
  });
  return isPower && isCompared;
}

static Value arranged(PatternRewriter &rewriter, Location loc, Value value,
                      ArrayRef<int64_t> dims) {
  Sizes sizes;
  for (int64_t dim : dims)
    sizes.push_back(dim < 0 ? Size(1) : typeOf(value).sizes()[dim]);
  auto type = GraphTensorType::of(rewriter.getContext(), sizes, typeOf(value).getElement());
  return RearrangeOp::create(rewriter, loc, type, value, dims);
}

MatmulOp tile::graph::turnedProduct(PatternRewriter &rewriter, MatmulOp product,
                                    ArrayRef<int64_t> dims) {
  std::optional<ProductOrder> order = orderOf(product, dims);
  if (!order)
    return {};
  Location loc = product.getLoc();
  Value left = order->isSwapped ? product.getRhs() : product.getLhs();
  Value right = order->isSwapped ? product.getLhs() : product.getRhs();
  Sizes sizes;
  for (int64_t dim : dims)
    sizes.push_back(product.getType().sizes()[dim]);
  auto type = GraphTensorType::of(rewriter.getContext(), sizes, product.getType().getElement());
  return MatmulOp::create(rewriter, loc, type, arranged(rewriter, loc, left, order->left),
                          arranged(rewriter, loc, right, order->right));
}

namespace {
struct TurnProduct : OpRewritePattern<RearrangeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RearrangeOp op, PatternRewriter &rewriter) const override {
    if (!isOrderForNext(op))
      return failure();
    MatmulOp turned = turnedProduct(rewriter, op.getSrc().getDefiningOp<MatmulOp>(), op.getDims());
    if (!turned)
      return failure();
    rewriter.replaceOp(op, turned);
    return success();
  }
};

/// A softmax of a product is the left operand of the next one.
struct FlipProduct : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    if (!isOfPowers(op.getRhs()) || isOfProduct(op.getLhs()))
      return failure();
    auto rank = int64_t(op.getType().sizes().size());
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(dims[rank - 1], dims[rank - 2]);
    MatmulOp turned = turnedProduct(rewriter, op, dims);
    if (!turned)
      return failure();
    rewriter.replaceOpWithNewOp<RearrangeOp>(op, op.getType(), turned.getResult(), dims);
    return success();
  }
};
} // namespace

void tile::graph::addTurnedProductPatterns(RewritePatternSet &patterns) {
  patterns.add<TurnProduct>(patterns.getContext());
}

void tile::graph::addFlippedProductPatterns(RewritePatternSet &patterns) {
  patterns.add<FlipProduct>(patterns.getContext());
}
