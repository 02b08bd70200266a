//===- Reshapes.cpp - other shapes of arrays, as indices --------------------===//
#include "passes/graph/Indices.h"

using namespace mlir;
using namespace tile::graph;

namespace {
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
} // namespace

void tile::graph::addReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<ReshapeToIndices, MapBeforeReshape>(patterns.getContext());
}
