//===- Reshapes.cpp - other shapes of arrays, as indices --------------------===//
#include "passes/graph/Indices.h"
#include "passes/graph/Normalize.h"

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
    if (!found) // some size is 0
      run = {i, source.size(), j, result.size()};
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
  while (next < source.size() && source[next].isConstant(1))
    ++next;
  if (next < source.size())
    return {}; // no elements
  return RearrangeOp::create(rewriter, op.getLoc(), op.getType(), op.getSrc(), dims);
}

/// What a value repeats along dimensions, as `expand` does; or itself.
static Value repeatedIn(Value value) {
  auto map = value.getDefiningOp<MapOp>();
  bool repeats = map && map.getKind() == MapKind::select && map.getOperand(1) == map.getOperand(2);
  return repeats ? map.getOperand(1) : value;
}

/// Whether a value is an array of the caller's, seen one way or another.
static bool isCallers(Value value) {
  while (auto view = value.getDefiningOp<RearrangeOp>())
    value = view.getSrc();
  return !value.getDefiningOp();
}

/// Whether `shape` makes one dimension of all but the last.
static bool joinsRows(ReshapeOp shape) {
  if (!shape)
    return false;
  Sizes source = typeOf(shape.getSrc()).sizes(), result = shape.getType().sizes();
  return result.size() == 2 && source.size() > 2 && source.back() == result.back();
}

namespace {
/// The kernel of a product makes one dimension of rows itself, where they lie so, and reads others
/// as they lie: the result gets the other shape, and what is computed for the left operand stays
/// part of the kernel.
struct ProductOfJoinedRows : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto shape = op.getLhs().getDefiningOp<ReshapeOp>();
    if (!joinsRows(shape) || typeOf(op.getRhs()).sizes().size() != 2)
      return failure();
    Value source = shape.getSrc();
    Sizes sizes = typeOf(source).sizes();
    sizes.back() = op.getType().sizes().back();
    auto type = GraphTensorType::of(op.getContext(), sizes, op.getType().getElement());
    Value product = MatmulOp::create(rewriter, op.getLoc(), type, source, op.getRhs());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), product);
    return success();
  }
};

struct ReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto first = op.getSrc().getDefiningOp<ReshapeOp>();
    if (!first)
      return failure();
    if (typeOf(first.getSrc()) == op.getType())
      rewriter.replaceOp(op, first.getSrc());
    else
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), first.getSrc());
    return success();
  }
};

struct ReshapeToIndices : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (Value view = asRearrange(rewriter, op)) {
      rewriter.replaceOp(op, view);
      return success();
    }
    Value array = repeatedIn(op.getSrc());
    if (!isCallers(array))
      return failure();
    Sizes source = typeOf(op.getSrc()).sizes(), result = op.getType().sizes();
    Sizes own = typeOf(array).sizes();
    size_t missing = source.size() - own.size();
    SmallVector<Run> runs = runsOf(source, result);
    // Some index has to tell the places along each dimension apart.
    auto isRepeated = [&](size_t dim) {
      return dim < missing || own[dim - missing] != source[dim];
    };
    for (const Run &run : runs)
      if (run.source < run.sourceEnd &&
          llvm::all_of(llvm::seq(run.source, run.sourceEnd), isRepeated))
        return failure();
    IndexBuilder indices(rewriter, op.getLoc());
    SmallVector<Value> at(source.size());
    for (const Run &run : runs) {
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
    // Where it is repeated it has the only element there is.
    for (size_t dim = 0; dim < source.size(); ++dim)
      if (isRepeated(dim))
        at[dim] = indices.number(Size(0));
    at.erase(at.begin(), at.begin() + missing);
    // Dimensions of one in front are in no run that has indices.
    if (!result.empty() && result[0].isConstant(1))
      at[0] = indices.map(MapKind::add, at[0], indices.along(Size(1), 0, result.size()));
    rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), array, at, /*guarded=*/false);
    return success();
  }
};

/// Another shape of a part is a part of another shape, where the part begins and ends with parts of
/// that: heads of queries, which are a third of what a product gives.
struct ReshapeOfWindow : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto window = op.getSrc().getDefiningOp<WindowOp>();
    if (!window || !window.getInside())
      return failure();
    Sizes whole = typeOf(window.getSrc()).sizes(), part = window.getType().sizes();
    Sizes sizes = op.getType().sizes();
    SmallVector<Attribute> starts(sizes.size(), rewriter.getStringAttr("0"));
    for (const Run &run : runsOf(part, op.getType().sizes())) {
      auto isWhole = [&](size_t dim) {
        return part[dim] == whole[dim] && window.getStarts()[dim] == rewriter.getStringAttr("0");
      };
      if (llvm::all_of(llvm::seq(run.source, run.sourceEnd), isWhole))
        continue;
      if (run.sourceEnd - run.source != 1 || run.result == run.resultEnd)
        return failure();
      Size rest = product(ArrayRef(sizes).slice(run.result + 1, run.resultEnd - run.result - 1));
      std::optional<Size> first = startOf(window.getStarts()[run.source]).dividedBy(rest);
      std::optional<Size> all = whole[run.source].dividedBy(rest);
      if (!first || !all)
        return failure();
      sizes[run.result] = *all;
      starts[run.result] = rewriter.getStringAttr(first->str());
    }
    auto type = GraphTensorType::of(op.getContext(), sizes, op.getType().getElement());
    Value shape = ReshapeOp::create(rewriter, op.getLoc(), type, window.getSrc());
    rewriter.replaceOpWithNewOp<WindowOp>(op, op.getType(), shape, rewriter.getArrayAttr(starts),
                                          /*inside=*/true, /*loose=*/false);
    return success();
  }
};

/// What broadcasts to a shape, of the sizes of another one with as many elements in the same order,
/// so that it broadcasts to that.
class InShape {
public:
  InShape(PatternRewriter &rewriter, ReshapeOp shape)
      : rewriter(rewriter), source(typeOf(shape.getSrc()).sizes()), result(shape.getType().sizes()),
        runs(runsOf(source, result)) {}

  /// Whether it repeats along all of a run, or along none of it. With `byIndices` an array of the
  /// caller's may get another shape for that.
  bool canBe(Value operand, bool byIndices) const {
    Sizes own = inFull(operand);
    return llvm::all_of(runs, [&](const Run &run) {
      return repeats(own, run) ||
             (isWhole(own, run) && (isOneDimension(run) || (byIndices && isCallers(operand))));
    });
  }
  /// Where its elements lie along `source`.
  Value as(Value operand) const {
    Sizes own = inFull(operand), sizes(source.size(), Size(1));
    size_t missing = own.size() - typeOf(operand).sizes().size();
    SmallVector<int64_t> dims(source.size(), -1);
    bool isView = true;
    for (const Run &run : runs) {
      if (repeats(own, run))
        continue;
      isView &= isOneDimension(run);
      dims[run.source] = int64_t(run.result - missing);
      std::copy(source.begin() + run.source, source.begin() + run.sourceEnd,
                sizes.begin() + run.source);
    }
    auto type = GraphTensorType::of(rewriter.getContext(), sizes, typeOf(operand).getElement());
    Location loc = operand.getLoc();
    if (isView)
      return RearrangeOp::create(rewriter, loc, type, operand, dims);
    return ReshapeOp::create(rewriter, loc, type, operand);
  }

private:
  /// With dimensions of one in front.
  Sizes inFull(Value operand) const {
    Sizes own = typeOf(operand).sizes(), sizes(result.size() - own.size(), Size(1));
    llvm::append_range(sizes, own);
    return sizes;
  }
  bool repeats(const Sizes &sizes, const Run &run) const {
    return std::all_of(sizes.begin() + run.result, sizes.begin() + run.resultEnd,
                       [](const Size &size) { return size.isConstant(1); });
  }
  bool isWhole(const Sizes &sizes, const Run &run) const {
    return std::equal(sizes.begin() + run.result, sizes.begin() + run.resultEnd,
                      result.begin() + run.result);
  }
  bool isOneDimension(const Run &run) const {
    return run.sourceEnd - run.source == 1 && run.resultEnd - run.result == 1;
  }

  PatternRewriter &rewriter;
  Sizes source, result;
  SmallVector<Run> runs;
};

/// What is computed of elements, and of others that repeat along what gets another shape or are the
/// caller's, is computed before that: there it is part of the kernel that has them.
struct MapBeforeReshape : RewritePattern {
  MapBeforeReshape(MLIRContext *context, bool byIndices)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), byIndices(byIndices) {}
  bool byIndices;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<MapOp, CastOp>(op))
      return failure();
    auto isMoved = [&](ReshapeOp shape) {
      return shape && !isCallers(repeatedIn(shape.getSrc())) &&
             shape.getType().sizes() == typeOf(op->getResult(0)).sizes() &&
             llvm::all_of(shape->getUsers(), [&](Operation *user) { return user == op; });
    };
    ReshapeOp shape;
    for (Value operand : op->getOperands())
      if (auto own = operand.getDefiningOp<ReshapeOp>(); !shape && isMoved(own))
        shape = own;
    if (!shape)
      return failure();
    InShape inSource(rewriter, shape);
    auto stays = [&](Value operand) {
      return operand == shape.getResult() || typeOf(operand).sizes().empty();
    };
    for (Value operand : op->getOperands())
      if (!stays(operand) && !inSource.canBe(operand, byIndices))
        return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(operand == shape.getResult() ? shape.getSrc()
                         : stays(operand)             ? operand
                                                      : inSource.as(operand));
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(GraphTensorType::of(
        op->getContext(), typeOf(shape.getSrc()).sizes(), typeOf(op->getResult(0)).getElement()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(), moved->getResult(0));
    return success();
  }
};
} // namespace

void tile::graph::addReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<ReshapeOfReshape, ReshapeToIndices>(patterns.getContext());
  patterns.add<MapBeforeReshape>(patterns.getContext(), /*byIndices=*/true);
}

void tile::graph::addShapedWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<ReshapeOfWindow>(patterns.getContext());
}

void tile::graph::addJoinedRowsPatterns(RewritePatternSet &patterns) {
  patterns.add<ProductOfJoinedRows, ReshapeOfReshape>(patterns.getContext());
  patterns.add<MapBeforeReshape>(patterns.getContext(), /*byIndices=*/false);
}
