//===- Views.cpp - windows and reshapes of arrays, as indices -------------===//
//
// A window of what is computed element by element is the same computed of windows, so that
// windows end up where arrays are read; there they are elements at shifted indices. So are
// arrays of the caller in another shape, which may have gaps. Another shape of what kernels
// compute is left: it is another view of the same memory.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/Indices.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHLOWERVIEWSPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;

#define DEBUG_TYPE "graph-lower-views"
ALWAYS_ENABLED_STATISTIC(viewsLowered, "windows and reshapes that became indices");

namespace {

/// The window of an operand that broadcasts to the window's source; null if it needs none.
static Value windowOf(OpBuilder &b, WindowOp op, Value operand) {
  Sizes own = typeOf(operand).sizes(), whole = op.getType().sizes(), sizes;
  size_t missing = whole.size() - own.size();
  SmallVector<Attribute> starts;
  bool moves = false;
  for (auto [i, size] : llvm::enumerate(own)) {
    bool repeats = size.isConstant(1);
    sizes.push_back(repeats ? size : whole[missing + i]);
    starts.push_back(repeats ? b.getStringAttr("0") : op.getStarts()[missing + i]);
    moves |= starts.back() != b.getStringAttr("0") || sizes.back() != size;
  }
  if (!moves)
    return operand;
  auto type = GraphTensorType::of(b.getContext(), sizes, typeOf(operand).getElement());
  return WindowOp::create(b, op.getLoc(), type, operand, b.getArrayAttr(starts), op.getInside(),
                          op.getLoose());
}

/// Element by element first, then the window, is the same the other way round. What lies
/// outside would be 0 behind the function, and is something else before it.
/// Where a value has several windows, it is computed in each: for windows of windows that doubles
/// with every step, and after so many the value is stored instead.
struct SinkThroughMaps : OpRewritePattern<WindowOp> {
  SinkThroughMaps(MLIRContext *context, unsigned &left) : OpRewritePattern(context), left(left) {}
  unsigned &left;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    Operation *source = op.getSrc().getDefiningOp();
    if (!source || !isa<MapOp, CastOp>(source) || !(op.getInside() || op.getLoose()))
      return failure();
    if ((!source->hasOneUse() && left == 0) || source->hasAttr(kStoredAttr))
      return failure();
    for (auto [before, after] : llvm::zip(typeOf(op.getSrc()).sizes(), op.getType().sizes()))
      if (before.isConstant(1) && !after.isConstant(1))
        return failure();
    left -= !source->hasOneUse();
    SmallVector<Value> operands;
    for (Value operand : source->getOperands())
      operands.push_back(windowOf(rewriter, op, operand));
    Operation *moved = rewriter.clone(*source);
    moved->setOperands(operands);
    Sizes shape;
    unsigned dim;
    for (Value operand : operands)
      shape = *broadcast(shape, typeOf(operand).sizes(), dim);
    moved->getResult(0).setType(
        GraphTensorType::of(op.getContext(), shape, op.getType().getElement()));
    rewriter.replaceOp(op, moved->getResults());
    return success();
  }
};

struct SinkThroughViews : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    auto view = op.getSrc().getDefiningOp<RearrangeOp>();
    if (!view)
      return failure();
    SmallVector<Attribute> starts(typeOf(view.getSrc()).sizes().size(),
                                  rewriter.getStringAttr("0"));
    Sizes sizes = typeOf(view.getSrc()).sizes();
    for (auto [i, dim] : llvm::enumerate(view.getDims())) {
      if (dim < 0 && (op.getStarts()[i] != rewriter.getStringAttr("0") ||
                      !op.getType().sizes()[i].isConstant(1)))
        return failure();
      if (dim < 0)
        continue;
      starts[dim] = op.getStarts()[i];
      sizes[dim] = op.getType().sizes()[i];
    }
    auto type = GraphTensorType::of(op.getContext(), sizes, op.getType().getElement());
    Value window = WindowOp::create(rewriter, op.getLoc(), type, view.getSrc(),
                                    rewriter.getArrayAttr(starts), op.getInside(), op.getLoose());
    rewriter.replaceOpWithNewOp<RearrangeOp>(op, op.getType(), window, view.getDims());
    return success();
  }
};

/// Whether what lies outside of the inner of two windows lies outside of the array as well.
static bool endsAlike(WindowOp outer, WindowOp inner) {
  for (auto [i, size] : llvm::enumerate(outer.getType().sizes())) {
    Size start = startOf(outer.getStarts()[i]), from = startOf(inner.getStarts()[i]);
    Size shown = inner.getType().sizes()[i];
    bool below = start.isNeverNegative() || from == Size(0);
    bool above = (shown - start - size).isNeverNegative() ||
                 from + shown == typeOf(inner.getSrc()).sizes()[i];
    if (!below || !above)
      return false;
  }
  return true;
}

/// A window of a window. Where a loose outer one shows more than the inner one nobody looks; where
/// one shows more than there is, the array is asked whether it is there, as in a part of what
/// is padded.
struct MergeWindows : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().getDefiningOp<WindowOp>();
    bool isFree = op.getInside() || op.getLoose();
    if (!inner || !(isFree || (inner.getInside() && endsAlike(op, inner))))
      return failure();
    SmallVector<Attribute> starts;
    for (auto [first, second] : llvm::zip(inner.getStarts(), op.getStarts()))
      starts.push_back(rewriter.getStringAttr((startOf(first) + startOf(second)).str()));
    bool isInside = inner.getInside();
    rewriter.replaceOpWithNewOp<WindowOp>(op, op.getType(), inner.getSrc(),
                                          rewriter.getArrayAttr(starts), isInside && op.getInside(),
                                          isInside ? op.getLoose() : inner.getLoose());
    return success();
  }
};

/// A window of what is taken by indices is taken by windows of them.
struct WindowOfGather : OpRewritePattern<WindowOp> {
  WindowOfGather(MLIRContext *context, unsigned &left) : OpRewritePattern(context), left(left) {}
  unsigned &left;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    auto source = op.getSrc().getDefiningOp<GatherOp>();
    if (!source || !(op.getInside() || op.getLoose()) || (!source->hasOneUse() && left == 0) ||
        source->hasAttr(kStoredAttr))
      return failure();
    for (auto [before, after] : llvm::zip(source.getType().sizes(), op.getType().sizes()))
      if (before.isConstant(1) && !after.isConstant(1))
        return failure();
    left -= !source->hasOneUse();
    SmallVector<Value> at;
    for (Value index : source.getIndices())
      at.push_back(windowOf(rewriter, op, index));
    // Where nobody looks an index may be anything.
    rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), source.getSrc(), at,
                                          source.getGuarded() || !op.getInside());
    return success();
  }
};

/// The only element along a dimension is there at every place of it, where nobody looks but at its
/// own: parts of what is joined, as pairs and borders are.
struct RepeatLoose : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != MapKind::select)
      return failure();
    for (OpOperand &operand : op->getOpOperands()) {
      auto window = operand.get().getDefiningOp<WindowOp>();
      if (!window || !window.getLoose())
        continue;
      SmallVector<Attribute> starts;
      Sizes sizes = withOnlyElements(window, starts, rewriter), shape;
      unsigned dim;
      for (Value value : op.getOperands())
        shape = *broadcast(shape, value == operand.get() ? sizes : typeOf(value).sizes(), dim);
      if (sizes == window.getType().sizes() || shape != op.getType().sizes())
        continue;
      Value inside = window.getSrc();
      auto type = GraphTensorType::of(op.getContext(), sizes, typeOf(inside).getElement());
      bool isWhole = typeOf(inside) == type && llvm::all_of(starts, [](Attribute start) {
                       return startOf(start) == Size(0);
                     });
      if (!isWhole)
        inside = WindowOp::create(rewriter, window.getLoc(), type, inside,
                                  rewriter.getArrayAttr(starts), /*inside=*/false, /*loose=*/true);
      rewriter.modifyOpInPlace(op, [&] { operand.set(inside); });
      return success();
    }
    return failure();
  }

private:
  /// The sizes of a window that does not go further along dimensions of one, and its starts.
  static Sizes withOnlyElements(WindowOp op, SmallVectorImpl<Attribute> &starts, OpBuilder &b) {
    Sizes sizes = op.getType().sizes();
    for (auto [size, start, before] :
         llvm::zip(sizes, op.getStarts(), typeOf(op.getSrc()).sizes())) {
      bool goesOn = before.isConstant(1) && !size.isConstant(1);
      starts.push_back(goesOn ? Attribute(b.getStringAttr("0")) : start);
      size = goesOn ? Size(1) : size;
    }
    return sizes;
  }
};

/// The numbers from 0 on, from another on.
struct WindowOfIndices : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    if (!op.getSrc().getDefiningOp<IndexOp>() || !(op.getInside() || op.getLoose()))
      return failure();
    IndexBuilder indices(rewriter, op.getLoc());
    rewriter.replaceOp(
        op, indices.plus(indices.along(op.getType().sizes()[0], 0, 1), startOf(op.getStarts()[0])));
    return success();
  }
};

struct WindowToGather : OpRewritePattern<WindowOp> {
  WindowToGather(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/0) {}
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    IndexBuilder indices(rewriter, op.getLoc());
    Sizes sizes = op.getType().sizes();
    SmallVector<Value> at;
    for (auto [i, start] : llvm::enumerate(op.getStarts()))
      at.push_back(indices.plus(indices.along(sizes[i], i, sizes.size()), startOf(start)));
    rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), op.getSrc(), at, !op.getInside());
    return success();
  }
};

/// What is taken from a view is taken from the array.
struct GatherOfView : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    auto view = op.getSrc().getDefiningOp<RearrangeOp>();
    if (!view)
      return failure();
    IndexBuilder indices(rewriter, op.getLoc());
    SmallVector<Value> at(typeOf(view.getSrc()).sizes().size());
    for (auto [dim, index] : llvm::zip(view.getDims(), op.getIndices())) {
      if (dim < 0 && op.getGuarded())
        return failure(); // it may say that the only element lies outside
      if (dim >= 0)
        at[dim] = index;
    }
    Sizes shape; // what the indices broadcast to, without numbers for dimensions of one
    unsigned dim;
    for (Value index : at)
      if (index)
        shape = *broadcast(shape, typeOf(index).sizes(), dim);
    if (shape != op.getType().sizes())
      return failure();
    for (Value &index : at)
      if (!index)
        index = indices.number(Size(0));
    rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), view.getSrc(), at, op.getGuarded());
    return success();
  }
};

struct GraphLowerViewsPass
    : public tile::graph::impl::GraphLowerViewsPassBase<GraphLowerViewsPass> {
  using GraphLowerViewsPassBase::GraphLowerViewsPassBase;

  unsigned countViews() {
    unsigned views = 0;
    getOperation().walk([&](Operation *op) { views += isa<WindowOp, ReshapeOp>(op); });
    return views;
  }

  void runOnOperation() override {
    unsigned views = countViews();
    markStored(getOperation().getBody().front());
    RewritePatternSet windows(&getContext()), patterns(&getContext());
    unsigned copies = 2048;
    // Windows of windows go down by one level each time that everything is looked at.
    GreedyRewriteConfig config;
    config.setMaxIterations(64);
    // Down to what is not computed element by element, of which parts may be computed.
    windows.add<SinkThroughMaps>(&getContext(), copies);
    windows.add<SinkThroughViews, MergeWindows>(&getContext());
    addSplitPatterns(windows);
    addShapedWindowPatterns(windows);
    if (failed(applyPatternsGreedily(getOperation(), std::move(windows), config)))
      return signalPassFailure();
    patterns.add<SinkThroughMaps, WindowOfGather>(&getContext(), copies);
    patterns.add<MergeWindows, SinkThroughViews, WindowOfIndices, RepeatLoose, WindowToGather,
                 GatherOfView>(&getContext());
    addReshapePatterns(patterns, withoutGaps);
    addGatherPatterns(patterns, copies);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    func::FuncOp function = getOperation(); // has got parameters
    for (Operation &op : function.getBody().front())
      op.removeAttr(kStoredAttr);
    function.setType(FunctionType::get(&getContext(), function.getBody().front().getArgumentTypes(),
                                       function.getResultTypes()));
    unsigned left = countViews();
    LDBG() << getOperation().getName() << ": " << left << " of " << views << " views are left";
    viewsLowered += views - std::min(left, views);
  }
};
} // namespace
