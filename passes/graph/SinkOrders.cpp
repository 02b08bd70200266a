//===- SinkOrders.cpp - other orders of scores, behind their softmax -------===//
//
// Scores are written in many orders: as an einsum "bqhd,bkhd->bqhk", with heads behind queries, or
// with keys in front of heads and a softmax along the third dimension. The product has them as
// matrices for each head, and so has the product that takes the softmax. Another order between the
// two is moved behind what is computed of the scores element by element and along their rows, where
// the next product's order undoes it.
//
//===----------------------------------------------------------------------===//
#include "ir/graph/Graph.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/ProductOrders.h"
#include "passes/graph/Sources.h"

using namespace mlir;
using namespace tile::graph;

/// Whether a value is of a softmax, or becomes one, that is an operand of a product.
static bool isOfSoftmaxForProduct(Value value) {
  bool isPower = false, isCompared = false, isMultiplied = false;
  auto look = [&](Operation *op) {
    auto map = dyn_cast_or_null<MapOp>(op);
    isPower |= map && (map.getKind() == MapKind::exp || map.getKind() == MapKind::exp2);
    auto reduce = dyn_cast_or_null<ReduceOp>(op);
    isCompared |= reduce && reduce.getKind() == ReduceKind::max;
  };
  visitSources(value, [&](Value source) {
    look(source.getDefiningOp());
    return isBetweenProducts(source.getDefiningOp());
  });
  SmallVector<Operation *> next(value.user_begin(), value.user_end());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    look(op);
    isMultiplied |= isa<MatmulOp>(op);
    if (isBetweenProducts(op))
      next.append(op->user_begin(), op->user_end());
  }
  return isPower && isCompared && isMultiplied;
}

/// Whether dimensions come in their order.
static bool isInOrder(ArrayRef<int64_t> dims) {
  int64_t last = -1;
  return llvm::all_of(dims, [&](int64_t dim) {
    bool isNext = dim < 0 || dim > last;
    last = std::max(last, dim);
    return isNext;
  });
}

/// Where each dimension of a value is along the operands of the products that take it, one order
/// for all; nothing if they take it in several, or none does.
static std::optional<SmallVector<int64_t>> orderForNext(Value value) {
  using Order = SmallVector<int64_t>;
  size_t rank = typeOf(value).sizes().size();
  std::optional<Order> found;
  SmallVector<std::pair<Value, Order>> work = {
      {value, llvm::to_vector(llvm::seq<int64_t>(0, rank))}};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    auto [now, order] = work.pop_back_val();
    if (!seen.insert(now).second)
      continue;
    for (OpOperand &use : now.getUses()) {
      Operation *user = use.getOwner();
      if (isa<MatmulOp>(user)) {
        if (found && *found != order)
          return std::nullopt;
        found = order;
      } else if (isa<MapOp, CastOp>(user) &&
                 typeOf(user->getResult(0)).sizes() == typeOf(now).sizes()) {
        work.push_back({user->getResult(0), order});
      } else if (auto view = dyn_cast<RearrangeOp>(user);
                 view && view.getDims().size() == rank && !llvm::is_contained(view.getDims(), -1)) {
        Order next;
        for (int64_t dim : view.getDims())
          next.push_back(order[dim]);
        work.push_back({view.getResult(), next});
      }
    }
  }
  return found;
}

/// Another order of all dimensions of scores, which the next product undoes.
static RearrangeOp orderOf(Value value) {
  auto order = value.getDefiningOp<RearrangeOp>();
  bool isOther = order && !isInOrder(order.getDims()) && !llvm::is_contained(order.getDims(), -1) &&
                 order.getDims().size() == typeOf(order.getSrc()).sizes().size();
  if (!isOther || !isOfProduct(order.getSrc()))
    return {};
  std::optional<SmallVector<int64_t>> next = orderForNext(order.getSrc());
  return next && isInOrder(*next) ? order : RearrangeOp();
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
    std::optional<SmallVector<int64_t>> next = orderForNext(product.getResult());
    if (!next || isInOrder(*next))
      return failure();
    MatmulOp turned = turnedProduct(rewriter, product, *next);
    if (!turned)
      return failure();
    SmallVector<int64_t> dims, back = inverse(*next);
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
      if (RearrangeOp own = orderOf(operand);
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
    RearrangeOp order = orderOf(op.getSrc());
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
