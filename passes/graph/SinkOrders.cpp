//===- SinkOrders.cpp - other orders of scores, behind their softmax -------===//
//
// Scores are written in many orders: as an einsum "bqhd,bkhd->bqhk", with heads behind queries, or
// with keys in front of heads and a softmax along the third dimension. The product has them as
// matrices for each head, and so has the product that takes the softmax. Another order between the
// two is moved behind what is computed of the scores element by element and along their rows, where
// the next product's order undoes it.
//
//===----------------------------------------------------------------------===//
#include "ir/graph/ProductOrders.h"
#include "passes/graph/Normalize.h"

using namespace mlir;
using namespace tile::graph;

/// Whether dimensions come in their order.
static bool isInOrder(ArrayRef<int64_t> dims) {
  int64_t last = -1;
  return llvm::all_of(dims, [&](int64_t dim) {
    bool isNext = dim < 0 || dim > last;
    last = std::max(last, dim);
    return isNext;
  });
}

namespace {
/// How products take what is computed of a value.
struct Taken {
  /// The value's dimensions as they have them: rows and columns either way, as a gradient's
  /// products do, but columns are what maxima are found of. Empty: none takes all of its
  /// dimensions.
  SmallVector<int64_t> order;
  bool inSeveral = false; ///< in another order, too

  bool isOwn() const {
    return !inSeveral && llvm::equal(order, llvm::seq<int64_t>(0, order.size()));
  }
};
} // namespace

static Taken takenBy(Value value) {
  using Order = SmallVector<int64_t>;
  size_t rank = typeOf(value).sizes().size();
  Taken taken;
  if (rank < 2)
    return taken;
  Order own = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::optional<int64_t> compared;
  auto turned = [&](Order order) {
    std::swap(order[rank - 1], order[rank - 2]);
    return order;
  };
  SmallVector<std::pair<Value, Order>> work = {{value, own}};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    auto [now, order] = work.pop_back_val();
    if (!seen.insert(now).second)
      continue;
    for (Operation *user : now.getUsers()) {
      auto view = dyn_cast<RearrangeOp>(user);
      auto reduce = dyn_cast<ReduceOp>(user);
      if (isa<MatmulOp>(user)) {
        taken.inSeveral |=
            !taken.order.empty() && taken.order != order && taken.order != turned(order);
        taken.order = order;
      } else if (reduce && reduce.getKind() == ReduceKind::max && reduce.getAxes().size() == 1) {
        compared = order[reduce.getAxes()[0]];
      } else if (isa<MapOp, CastOp>(user) &&
                 typeOf(user->getResult(0)).sizes() == typeOf(now).sizes()) {
        work.push_back({user->getResult(0), order});
      } else if (view && view.getDims().size() == rank && !llvm::is_contained(view.getDims(), -1)) {
        Order next;
        for (int64_t dim : view.getDims())
          next.push_back(order[dim]);
        work.push_back({view.getResult(), next});
      }
    }
  }
  if (taken.order.empty())
    return taken;
  if (compared ? taken.order[rank - 2] == *compared : taken.order == turned(own))
    taken.order = turned(taken.order);
  return taken;
}

/// Another order of all dimensions of scores, which the next product undoes.
static RearrangeOp undoneOrder(Value value) {
  auto order = value.getDefiningOp<RearrangeOp>();
  bool isOther = order && !isInOrder(order.getDims()) && !llvm::is_contained(order.getDims(), -1) &&
                 order.getDims().size() == typeOf(order.getSrc()).sizes().size();
  if (!isOther || !isOfProduct(order.getSrc()))
    return {};
  // If none takes all of it, rows of it are reduced.
  Taken taken = takenBy(order.getSrc());
  return taken.order.empty() || taken.isOwn() ? order : RearrangeOp();
}

/// Where each dimension went.
static SmallVector<int64_t> inverse(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> out(dims.size());
  for (auto [i, dim] : llvm::enumerate(dims))
    out[dim] = int64_t(i);
  return out;
}

static Value arranged(PatternRewriter &rewriter, Value value, ArrayRef<int64_t> dims) {
  // A view of a view is one of what that views, so that an order that is undone is seen to be.
  SmallVector<int64_t> own(dims);
  if (auto view = value.getDefiningOp<RearrangeOp>()) {
    for (int64_t &dim : own)
      dim = dim < 0 ? -1 : view.getDims()[dim];
    value = view.getSrc();
  }
  Sizes sizes;
  for (int64_t dim : own)
    sizes.push_back(dim < 0 ? Size(1) : typeOf(value).sizes()[dim]);
  auto type = GraphTensorType::of(rewriter.getContext(), sizes, typeOf(value).getElement());
  if (type == typeOf(value) && isInOrder(own) && !llvm::is_contained(own, -1))
    return value;
  return RearrangeOp::create(rewriter, value.getLoc(), type, value, own);
}

namespace {
/// A product has the order in which the next one takes its scores.
struct OrderForNext : OpRewritePattern<RearrangeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RearrangeOp op, PatternRewriter &rewriter) const override {
    auto product = op.getSrc().getDefiningOp<MatmulOp>();
    if (!product || !product->hasOneUse() || !isFirstProduct(product) ||
        llvm::is_contained(op.getDims(), -1) || !isOfSoftmaxForProduct(op.getResult()))
      return failure();
    Taken next = takenBy(product.getResult());
    if (next.order.empty() || next.inSeveral || next.isOwn())
      return failure();
    MatmulOp turned = turnedProduct(rewriter, product, next.order);
    if (!turned)
      return failure();
    SmallVector<int64_t> dims, back = inverse(next.order);
    for (int64_t dim : op.getDims())
      dims.push_back(back[dim]);
    rewriter.replaceOp(op, arranged(rewriter, turned.getResult(), dims));
    return success();
  }
};

struct SinkThroughMap : RewritePattern {
  SinkThroughMap(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<MapOp, CastOp>(op))
      return failure();
    GraphTensorType result = typeOf(op->getResult(0));
    RearrangeOp order;
    for (Value operand : op->getOperands())
      if (RearrangeOp own = undoneOrder(operand);
          !order && own && own.getType().sizes() == result.sizes())
        order = own;
    if (!order || !isOfSoftmaxForProduct(op->getResult(0)))
      return failure();
    size_t rank = order.getDims().size();
    SmallVector<int64_t> back = inverse(order.getDims());
    // Behind it as well: what another order of scores would be left for, it would change for ever.
    auto dimsOf = [&](Value operand) {
      int64_t missing = rank - typeOf(operand).sizes().size();
      SmallVector<int64_t> dims;
      for (int64_t dim : back)
        dims.push_back(dim < missing ? -1 : dim - missing);
      return dims;
    };
    auto isFree = [&](Value operand) {
      if (typeOf(operand).sizes().empty() || !isOfProduct(operand))
        return true;
      SmallVector<int64_t> dims = dimsOf(operand);
      auto view = operand.getDefiningOp<RearrangeOp>();
      for (int64_t &dim : dims)
        dim = view && dim >= 0 ? view.getDims()[dim] : dim;
      return isInOrder(dims);
    };
    if (!llvm::all_of(op->getOperands(), isFree))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          typeOf(operand).sizes().empty() ? operand : arranged(rewriter, operand, dimsOf(operand)));
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(
        GraphTensorType::of(op->getContext(), typeOf(order.getSrc()).sizes(), result.getElement()));
    rewriter.replaceOp(op, arranged(rewriter, moved->getResult(0), order.getDims()));
    return success();
  }
};

struct SinkThroughReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    RearrangeOp order = undoneOrder(op.getSrc());
    if (!order || !isOfSoftmaxForProduct(op.getSrc()))
      return failure();
    ArrayRef<int64_t> dims = order.getDims();
    SmallVector<int64_t> axes, left;
    for (int64_t axis : op.getAxes())
      axes.push_back(dims[axis]);
    llvm::sort(axes);
    Sizes sizes;
    for (auto [i, size] : llvm::enumerate(typeOf(order.getSrc()).sizes()))
      if (!llvm::is_contained(axes, int64_t(i))) {
        left.push_back(int64_t(i));
        sizes.push_back(size);
      }
    SmallVector<int64_t> behind;
    for (auto [i, dim] : llvm::enumerate(dims))
      if (!llvm::is_contained(op.getAxes(), int64_t(i)))
        behind.push_back(llvm::find(left, dim) - left.begin());
    auto type = GraphTensorType::of(op.getContext(), sizes, op.getType().getElement());
    Value reduced =
        ReduceOp::create(rewriter, op.getLoc(), type, op.getKind(), order.getSrc(), axes);
    rewriter.replaceOp(op, arranged(rewriter, reduced, behind));
    return success();
  }
};
} // namespace

void tile::graph::addSinkOrderPatterns(RewritePatternSet &patterns) {
  patterns.add<OrderForNext, SinkThroughMap, SinkThroughReduce>(patterns.getContext());
}
