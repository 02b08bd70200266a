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
#include "ir/graph/Graph.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/ProductOrders.h"
#include "passes/graph/Sources.h"

using namespace mlir;
using namespace tile::graph;

bool tile::graph::isBetweenProducts(Operation *op) {
  return isa_and_nonnull<MapOp, CastOp, RearrangeOp, ReduceOp>(op);
}

bool tile::graph::isOfProduct(Value value) {
  bool found = false;
  visitSources(value, [&](Value source) {
    found |= source.getDefiningOp<MatmulOp>() != nullptr;
    return isBetweenProducts(source.getDefiningOp());
  });
  return found;
}

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

static Value arranged(PatternRewriter &rewriter, Location loc, Value value,
                      ArrayRef<int64_t> dims) {
  Sizes sizes;
  for (int64_t dim : dims)
    sizes.push_back(dim < 0 ? Size(1) : typeOf(value).sizes()[dim]);
  auto type = GraphTensorType::of(rewriter.getContext(), sizes, typeOf(value).getElement());
  return RearrangeOp::create(rewriter, loc, type, value, dims);
}

namespace {
/// An operand of a product of `rank` dimensions.
class Operand {
public:
  Operand(Value value, int64_t rank, bool isRight) : value(value), rank(rank), isRight(isRight) {}

  /// Where a dimension of the result is along it; -1: that is the same along it.
  int64_t along(int64_t dim) const {
    Sizes sizes = typeOf(value).sizes();
    int64_t own = dim - (rank - int64_t(sizes.size())), last = int64_t(sizes.size()) - 1;
    if (dim >= rank - 2)
      return (dim == rank - 1) == isRight ? last - !isRight : -1;
    return own < 0 || sizes[own].isConstant(1) ? -1 : own;
  }
  /// As the left or the right operand of a product whose result has these dimensions, the last two
  /// of which are its rows and its columns.
  Value as(bool right, PatternRewriter &rewriter, Location loc, ArrayRef<int64_t> dims) const {
    SmallVector<int64_t> own;
    for (int64_t dim : dims.drop_back(2))
      own.push_back(along(dim));
    int64_t inner = int64_t(typeOf(value).sizes().size()) - 1 - isRight;
    own.push_back(right ? inner : along(dims[dims.size() - 2]));
    own.push_back(right ? along(dims.back()) : inner);
    return arranged(rewriter, loc, value, own);
  }

private:
  Value value;
  int64_t rank;
  bool isRight;
};

} // namespace

bool tile::graph::isFirstProduct(MatmulOp product) {
  return !isOfProduct(product.getLhs()) && !isOfProduct(product.getRhs());
}

MatmulOp tile::graph::turnedProduct(PatternRewriter &rewriter, MatmulOp product,
                                    ArrayRef<int64_t> dims) {
  auto rank = int64_t(dims.size());
  int64_t row = dims[rank - 2], column = dims[rank - 1];
  Operand left(product.getLhs(), rank, false), right(product.getRhs(), rank, true);
  auto areOf = [&](const Operand &rows, const Operand &columns) {
    return rows.along(row) >= 0 && columns.along(row) < 0 && columns.along(column) >= 0 &&
           rows.along(column) < 0;
  };
  bool isSwapped = areOf(right, left);
  if (!isSwapped && !areOf(left, right))
    return {};
  Location loc = product.getLoc();
  Value x = (isSwapped ? right : left).as(false, rewriter, loc, dims);
  Value y = (isSwapped ? left : right).as(true, rewriter, loc, dims);
  Sizes sizes;
  for (int64_t dim : dims)
    sizes.push_back(product.getType().sizes()[dim]);
  auto type = GraphTensorType::of(rewriter.getContext(), sizes, product.getType().getElement());
  return MatmulOp::create(rewriter, loc, type, x, y);
}

namespace {
struct TurnProduct : OpRewritePattern<RearrangeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RearrangeOp op, PatternRewriter &rewriter) const override {
    auto product = op.getSrc().getDefiningOp<MatmulOp>();
    ArrayRef<int64_t> dims = op.getDims();
    if (!product || !product->hasOneUse() || dims.size() < 2 ||
        dims.size() != product.getType().sizes().size() || llvm::is_contained(dims, -1))
      return failure();
    auto rank = int64_t(dims.size());
    bool isTurned = dims[rank - 2] != rank - 2 || dims[rank - 1] != rank - 1;
    if (!isTurned || !isForProduct(op.getResult()) || !isFirstProduct(product))
      return failure();
    MatmulOp turned = turnedProduct(rewriter, product, dims);
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
    SmallVector<int64_t> turned = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(turned[rank - 1], turned[rank - 2]);
    Location loc = op.getLoc();
    Value x = Operand(op.getRhs(), rank, true).as(false, rewriter, loc, turned);
    Value y = Operand(op.getLhs(), rank, false).as(true, rewriter, loc, turned);
    Sizes sizes = op.getType().sizes();
    std::swap(sizes[rank - 1], sizes[rank - 2]);
    auto type = GraphTensorType::of(op.getContext(), sizes, op.getType().getElement());
    Value product = MatmulOp::create(rewriter, loc, type, x, y);
    rewriter.replaceOpWithNewOp<RearrangeOp>(op, op.getType(), product, turned);
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
