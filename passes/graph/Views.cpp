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

static GraphTensorType typeOf(Value value) { return cast<GraphTensorType>(value.getType()); }

namespace {

/// Makes the operations that compute indices.
class IndexBuilder {
public:
  IndexBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// The numbers along dimension `dim` of `rank`.
  Value along(const Size &size, size_t dim, size_t rank) {
    SmallVector<int64_t> dims(rank - dim, -1);
    Sizes sizes(rank - dim, Size(1));
    Value line;
    if (size.isConstant(1)) {
      line = number(Size(0));
    } else {
      line = IndexOp::create(b, loc, GraphTensorType::of(b.getContext(), {size}, i32()));
      dims[0] = 0;
      sizes[0] = size;
    }
    return RearrangeOp::create(b, loc, GraphTensorType::of(b.getContext(), sizes, i32()), line,
                               dims);
  }
  Value number(const Size &size) {
    if (std::optional<int64_t> constant = size.constant())
      return ConstantOp::create(b, loc, scalar(), b.getI64IntegerAttr(*constant));
    auto type = GraphTensorType::of(b.getContext(), {}, b.getI64Type());
    return SizeOp::create(b, loc, type, size.str());
  }
  /// Of i32: dimensions are far below what it holds, or the launch asks for 64 bits anyway.
  Value map(MapKind kind, Value x, Value y) {
    unsigned dim;
    Sizes shape = *broadcast(typeOf(x).sizes(), typeOf(y).sizes(), dim);
    return MapOp::create(b, loc, GraphTensorType::of(b.getContext(), shape, i32()), kind,
                         ValueRange{x, y});
  }
  Value plus(Value x, const Size &by) {
    return by == Size(0) ? x : map(MapKind::add, x, number(by));
  }

private:
  Type i32() { return b.getI32Type(); }
  GraphTensorType scalar() { return GraphTensorType::of(b.getContext(), {}, i32()); }

  OpBuilder &b;
  Location loc;
};

static Size startOf(Attribute start) {
  std::string error;
  return *Size::parse(cast<StringAttr>(start).getValue(), error);
}

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
    if (!source->hasOneUse() && left == 0)
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

/// A window of a window. Where the outer one shows more than the inner one nobody looks.
struct MergeWindows : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().getDefiningOp<WindowOp>();
    if (!inner || !inner.getInside() || !(op.getInside() || op.getLoose()))
      return failure();
    SmallVector<Attribute> starts;
    for (auto [first, second] : llvm::zip(inner.getStarts(), op.getStarts()))
      starts.push_back(rewriter.getStringAttr((startOf(first) + startOf(second)).str()));
    rewriter.replaceOpWithNewOp<WindowOp>(op, op.getType(), inner.getSrc(),
                                          rewriter.getArrayAttr(starts), op.getInside(),
                                          op.getLoose());
    return success();
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

/// Sizes whose product is one of both shapes: [first, last) of the source and the result.
struct Run {
  size_t source, sourceEnd, result, resultEnd;
};

} // namespace

/// Both shapes cut where as many elements lie in front.
static SmallVector<Run> runsOf(ArrayRef<Size> source, ArrayRef<Size> result) {
  SmallVector<Run> runs;
  size_t i = 0, j = 0;
  while (i < source.size() || j < result.size()) {
    Run run{i, i, j, j};
    bool found = false;
    for (size_t a = i; a <= source.size() && !found; ++a)
      for (size_t c = j; c <= result.size() && !found; ++c)
        if (a + c > i + j && product(source.slice(i, a - i)) == product(result.slice(j, c - j))) {
          run = {i, a, j, c};
          found = true;
        }
    runs.push_back(run);
    i = run.sourceEnd;
    j = run.resultEnd;
  }
  return runs;
}

/// Dimensions of one size that come and go are no other shape.
static Value asRearrange(PatternRewriter &rewriter, ReshapeOp op) {
  Sizes source = typeOf(op.getSrc()).sizes(), result = op.getType().sizes();
  SmallVector<int64_t> dims;
  size_t next = 0;
  for (const Size &size : result) {
    if (size.isConstant(1)) {
      dims.push_back(-1);
      continue;
    }
    while (next < source.size() && source[next].isConstant(1))
      ++next;
    if (next == source.size() || source[next] != size)
      return {};
    dims.push_back(next++);
  }
  return RearrangeOp::create(rewriter, op.getLoc(), op.getType(), op.getSrc(), dims);
}

/// Whether a value is an array of the caller's, seen one way or another.
static bool isCallers(Value value) {
  while (auto view = value.getDefiningOp<RearrangeOp>())
    value = view.getSrc();
  return !value.getDefiningOp();
}

namespace {
struct ReshapeToIndices : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (Value view = asRearrange(rewriter, op)) {
      rewriter.replaceOp(op, view);
      return success();
    }
    if (!isCallers(op.getSrc()))
      return failure();
    IndexBuilder indices(rewriter, op.getLoc());
    Sizes source = typeOf(op.getSrc()).sizes(), result = op.getType().sizes();
    SmallVector<Value> at(source.size());
    for (const Run &run : runsOf(source, result)) {
      // The place in the run, then where that is along each dimension of the source.
      Value place = indices.number(Size(0));
      for (size_t j = run.result; j < run.resultEnd; ++j) {
        Value along = indices.along(result[j], j, result.size());
        Size step = product(ArrayRef(result).slice(j + 1, run.resultEnd - j - 1));
        bool isFirst = j == run.result;
        along = step.isConstant(1) ? along : indices.map(MapKind::mul, along, indices.number(step));
        place = isFirst ? along : indices.map(MapKind::add, place, along);
      }
      for (size_t i = run.sourceEnd; i-- > run.source;) {
        bool isLast = i == run.source;
        at[i] = isLast ? place : indices.map(MapKind::mod, place, indices.number(source[i]));
        if (!isLast)
          place = indices.map(MapKind::floordiv, place, indices.number(source[i]));
      }
    }
    // Dimensions of one in front are in no run that has indices.
    if (!result.empty() && result[0].isConstant(1))
      at[0] = indices.map(MapKind::add, at[0], indices.along(Size(1), 0, result.size()));
    rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), op.getSrc(), at, /*guarded=*/false);
    return success();
  }
};

/// What is computed of the elements alone is computed before they get another shape: there it is
/// part of the kernel that has them.
struct MapBeforeReshape : RewritePattern {
  explicit MapBeforeReshape(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<MapOp, CastOp>(op))
      return failure();
    ReshapeOp shape;
    for (Value operand : op->getOperands()) {
      if (typeOf(operand).sizes().empty())
        continue;
      auto own = operand.getDefiningOp<ReshapeOp>();
      if (!own || (shape && own != shape))
        return failure();
      shape = own;
    }
    if (!shape || isCallers(shape.getSrc()) ||
        !llvm::all_of(shape->getUsers(), [&](Operation *user) { return user == op; }))
      return failure();
    Operation *moved = rewriter.clone(*op);
    for (OpOperand &operand : moved->getOpOperands())
      if (operand.get() == shape.getResult())
        operand.set(shape.getSrc());
    moved->getResult(0).setType(GraphTensorType::of(
        op->getContext(), typeOf(shape.getSrc()).sizes(), typeOf(op->getResult(0)).getElement()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(), moved->getResult(0));
    return success();
  }
};

struct GraphLowerViewsPass
    : public tile::graph::impl::GraphLowerViewsPassBase<GraphLowerViewsPass> {
  unsigned countViews() {
    unsigned views = 0;
    getOperation().walk([&](Operation *op) { views += isa<WindowOp, ReshapeOp>(op); });
    return views;
  }

  void runOnOperation() override {
    unsigned views = countViews();
    RewritePatternSet patterns(&getContext());
    unsigned copies = 2048;
    patterns.add<SinkThroughMaps>(&getContext(), copies);
    patterns.add<MergeWindows, SinkThroughViews, WindowOfIndices, WindowToGather, GatherOfView,
                 ReshapeToIndices, MapBeforeReshape>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    unsigned left = countViews();
    LDBG() << getOperation().getName() << ": " << left << " of " << views << " views are left";
    viewsLowered += views - std::min(left, views);
  }
};
} // namespace
