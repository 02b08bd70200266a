//===- Reshapes.cpp - other shapes of arrays, as indices --------------------===//
#include "passes/graph/Indices.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/Sources.h"
#include "passes/graph/Space.h"

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

/// How many elements of a run lie in front of one, by its indices in the result.
static Value placeIn(const Run &run, ArrayRef<Size> result, IndexBuilder &indices) {
  Value place = indices.number(Size(0));
  for (size_t j = run.result; j < run.resultEnd; ++j) {
    Value along = indices.along(result[j], j, result.size());
    Size step = product(result.slice(j + 1, run.resultEnd - j - 1));
    if (!step.isConstant(1))
      along = indices.map(MapKind::mul, along, indices.number(step));
    place = j == run.result ? along : indices.map(MapKind::add, place, along);
  }
  return place;
}

/// Where that is along each dimension of the source.
static void indicesIn(const Run &run, ArrayRef<Size> source, ArrayRef<Size> result,
                      IndexBuilder &indices, MutableArrayRef<Value> at) {
  if (run.source == run.sourceEnd)
    return;
  Value place = placeIn(run, result, indices);
  for (size_t i = run.sourceEnd; i-- > run.source;) {
    bool isFirst = i == run.source;
    Value size = isFirst ? Value() : indices.number(source[i]);
    at[i] = isFirst ? place : indices.map(MapKind::mod, place, size);
    if (!isFirst)
      place = indices.map(MapKind::floordiv, place, size);
  }
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

/// The dimension along which a value is the numbers from 0 on; nothing if it is something else.
static std::optional<size_t> dimOfPlaces(Value value) {
  auto view = value.getDefiningOp<RearrangeOp>();
  if (!(view ? view.getSrc() : value).getDefiningOp<IndexOp>())
    return std::nullopt;
  return view ? llvm::find(view.getDims(), 0) - view.getDims().begin() : 0;
}

/// Whether each element is computed of elements, by indices or not, that lie in arrays of the
/// caller's for those that are taken by indices.
static bool isElementwise(Operation *op) {
  auto gather = dyn_cast_or_null<GatherOp>(op);
  return gather ? isCallers(gather.getSrc()) : isa_and_nonnull<MapOp, CastOp>(op);
}

/// Operations of a condition that holds wherever something repeats.
static constexpr unsigned kMostOfPlaces = 64;

/// How many operations compute a value of arrays of the caller's alone, element by element, and of
/// what `isKnown` says; nothing if others do, or more than so many.
static std::optional<unsigned> countOfCallers(
    Value value, unsigned most,
    llvm::function_ref<bool(Value)> isKnown = [](Value) { return false; }) {
  if (isKnown(value))
    return 0;
  if (Value once = repeatedIn(value); once != value) {
    // Where it repeats does not count, but has to be known from places as well.
    std::optional<unsigned> condition =
        countOfCallers(value.getDefiningOp()->getOperand(0), kMostOfPlaces);
    return condition ? countOfCallers(once, most) : std::nullopt;
  }
  if (auto view = value.getDefiningOp<RearrangeOp>())
    return countOfCallers(view.getSrc(), most);
  Operation *op = value.getDefiningOp();
  if (!op || isa<IndexOp>(op) || isFree(op))
    return 0;
  if (!isElementwise(op))
    return std::nullopt;
  unsigned count = 1;
  for (Value operand : op->getOperands().drop_front(isa<GatherOp>(op))) {
    std::optional<unsigned> more =
        count > most ? std::nullopt : countOfCallers(operand, most - count, isKnown);
    if (!more)
      return std::nullopt;
    count += *more;
  }
  return count <= most ? std::optional(count) : std::nullopt;
}

/// A view of a view, as one of what that views.
static Value asOneView(PatternRewriter &rewriter, Value value) {
  auto view = value.getDefiningOp<RearrangeOp>();
  auto inner = view ? view.getSrc().getDefiningOp<RearrangeOp>() : RearrangeOp();
  if (!inner)
    return value;
  SmallVector<int64_t> dims;
  for (int64_t dim : view.getDims())
    dims.push_back(dim < 0 ? -1 : inner.getDims()[dim]);
  return asOneView(
      rewriter, RearrangeOp::create(rewriter, view.getLoc(), view.getType(), inner.getSrc(), dims));
}

/// Whether `shape` makes one dimension of all but the last.
static bool joinsRows(ReshapeOp shape) {
  if (!shape)
    return false;
  Sizes source = typeOf(shape.getSrc()).sizes(), result = shape.getType().sizes();
  return result.size() == 2 && source.size() > 2 && source.back() == result.back();
}

/// The parameter of which a value is all elements in order; null if it is no such thing.
static BlockArgument parameterInOrder(Value value) {
  while (auto view = value.getDefiningOp<RearrangeOp>()) {
    int64_t last = -1;
    for (int64_t dim : view.getDims()) {
      if (dim >= 0 && dim < last)
        return {};
      last = std::max(last, dim);
    }
    if (product(typeOf(view.getSrc()).sizes()) != product(view.getType().sizes()))
      return {};
    value = view.getSrc();
  }
  return dyn_cast<BlockArgument>(value);
}

/// The parameter that lies where another does, which has no gaps, in another shape. What is written
/// where it lies has one shape: null.
static Value asOtherParameter(ReshapeOp op) {
  BlockArgument source = parameterInOrder(op.getSrc());
  if (!source)
    return {};
  auto function = cast<FunctionOpInterface>(op->getParentOp());
  auto listOf = [&](StringRef name) {
    auto list = function->getAttrOfType<DenseI64ArrayAttr>(name);
    return list ? llvm::to_vector(list.asArrayRef()) : SmallVector<int64_t>();
  };
  Block &body = function.getFunctionBody().front();
  SmallVector<int64_t> others = listOf(kOtherShapesAttr);
  size_t given = body.getNumArguments() - others.size();
  int64_t number = source.getArgNumber();
  if (number >= int64_t(given))
    number = others[number - given];
  if (llvm::is_contained(listOf(kUpdatesAttr), number))
    return {};
  for (auto [i, of] : llvm::enumerate(others))
    if (of == number && body.getArgument(given + i).getType() == op.getType())
      return body.getArgument(given + i);
  others.push_back(number);
  function->setAttr(kOtherShapesAttr, DenseI64ArrayAttr::get(op.getContext(), others));
  return body.addArgument(op.getType(), op.getLoc());
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

struct LowerReshape : OpRewritePattern<ReshapeOp> {
  LowerReshape(MLIRContext *context, bool withoutGaps)
      : OpRewritePattern(context), withoutGaps(withoutGaps) {}
  bool withoutGaps;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (Value view = asRearrange(rewriter, op)) {
      rewriter.replaceOp(op, view);
      return success();
    }
    if (Value other = withoutGaps ? asOtherParameter(op) : Value()) {
      rewriter.replaceOp(op, other);
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
    for (const Run &run : runs)
      indicesIn(run, source, result, indices, at);
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

/// What broadcasts to a shape `from`, as what broadcasts to one `to` of as many elements in the
/// same order.
class OtherShape {
public:
  OtherShape(PatternRewriter &rewriter, Location loc, ArrayRef<Size> from, ArrayRef<Size> to)
      : rewriter(rewriter), loc(loc), from(from), to(to), runs(runsOf(from, to)) {}

  /// Whether it is a view there. `byIndices`: or one of the caller's arrays in another shape or
  /// taken by indices, or what is computed of such element by element.
  bool canBe(Value operand, bool byIndices) const {
    if (typeOf(operand).sizes().empty() || isView(operand))
      return true;
    return byIndices && countOfCallers(operand, kMostAgain);
  }
  /// Where its elements lie along `to`.
  Value as(Value operand) const {
    Sizes sizes = typeOf(operand).sizes();
    if (sizes.empty())
      return operand;
    if (isView(operand))
      return viewOf(operand);
    operand = asOneView(rewriter, operand);
    if (dimOfPlaces(operand))
      return elementsOf(operand);
    if (!isCallers(operand)) {
      auto view = operand.getDefiningOp<RearrangeOp>();
      return computedThere(view ? computedAs(view) : operand.getDefiningOp());
    }
    Sizes own = inFull(operand);
    bool isShape =
        llvm::all_of(runs, [&](const Run &run) { return repeats(own, run) || isWhole(own, run); });
    return isShape ? shapeOf(operand) : elementsOf(operand);
  }

  /// Operations that may be done more than once for another shape.
  static constexpr unsigned kMostAgain = 32;

  /// Whether a value is one that rows were reduced to, and repeats along what gets another shape.
  bool isOfRows(Value operand) const {
    bool isReduced = false;
    visitSources(operand, [&](Value source) {
      isReduced |= bool(source.getDefiningOp<ReduceOp>());
      return isa_and_nonnull<MapOp, CastOp, RearrangeOp>(source.getDefiningOp());
    });
    return isReduced && isView(operand);
  }

private:
  /// With dimensions of one in front.
  Sizes inFull(Value operand) const {
    Sizes own = typeOf(operand).sizes(), sizes(from.size() - own.size(), Size(1));
    llvm::append_range(sizes, own);
    return sizes;
  }
  bool repeats(const Sizes &sizes, const Run &run) const {
    return std::all_of(sizes.begin() + run.source, sizes.begin() + run.sourceEnd,
                       [](const Size &size) { return size.isConstant(1); });
  }
  bool isWhole(const Sizes &sizes, const Run &run) const {
    return std::equal(sizes.begin() + run.source, sizes.begin() + run.sourceEnd,
                      from.begin() + run.source);
  }
  bool isOneDimension(const Run &run) const {
    return run.sourceEnd - run.source == 1 && run.resultEnd - run.result == 1;
  }
  bool isView(Value operand) const {
    Sizes own = inFull(operand);
    return llvm::all_of(runs, [&](const Run &run) {
      return repeats(own, run) || (isWhole(own, run) && isOneDimension(run));
    });
  }
  /// A type in which whole runs have their sizes, and others 1; `dims`: of a view.
  GraphTensorType typeThere(Value operand, SmallVectorImpl<int64_t> &dims) const {
    Sizes own = inFull(operand), sizes(to.size(), Size(1));
    size_t missing = own.size() - typeOf(operand).sizes().size();
    dims.assign(to.size(), -1);
    for (const Run &run : runs) {
      if (repeats(own, run))
        continue;
      dims[run.result] = int64_t(run.source - missing);
      std::copy(to.begin() + run.result, to.begin() + run.resultEnd, sizes.begin() + run.result);
    }
    return GraphTensorType::of(rewriter.getContext(), sizes, typeOf(operand).getElement());
  }
  Value viewOf(Value operand) const {
    SmallVector<int64_t> dims;
    auto type = typeThere(operand, dims);
    return RearrangeOp::create(rewriter, loc, type, operand, dims);
  }
  Value shapeOf(Value operand) const {
    SmallVector<int64_t> dims;
    auto type = typeThere(operand, dims);
    return ReshapeOp::create(rewriter, loc, type, operand);
  }
  /// The same function of its operands in another shape.
  Operation *ofOperands(Operation *op, llvm::function_ref<Value(Value)> inShape) const {
    SmallVector<Value> operands;
    Sizes shape;
    unsigned dim;
    for (Value operand : op->getOperands()) {
      bool isArray = isa<GatherOp>(op) && operands.empty();
      operands.push_back(isArray ? operand : inShape(operand));
      if (!isArray)
        shape = *broadcast(shape, typeOf(operands.back()).sizes(), dim);
    }
    Operation *made = rewriter.clone(*op);
    made->setOperands(operands);
    Type element = typeOf(op->getResult(0)).getElement();
    made->getResult(0).setType(GraphTensorType::of(rewriter.getContext(), shape, element));
    return made;
  }
  Value computedThere(Operation *op) const {
    // What repeats is read once, unless nothing else goes along the dimensions in which it does.
    Operation *made = ofOperands(op, [&](Value operand) { return as(repeatedIn(operand)); });
    if (isAllOf(made->getResult(0), op->getResult(0)))
      return made->getResult(0);
    rewriter.eraseOp(made);
    return ofOperands(op, [&](Value operand) { return as(operand); })->getResult(0);
  }
  /// Whether `made` has all dimensions of `to` along which a value goes.
  bool isAllOf(Value made, Value value) const {
    Sizes own = inFull(value), sizes = typeOf(made).sizes();
    size_t missing = to.size() - sizes.size();
    return llvm::all_of(runs, [&](const Run &run) {
      return repeats(own, run) ||
             llvm::all_of(llvm::seq(run.result, run.resultEnd), [&](size_t dim) {
               return to[dim].isConstant(1) || (dim >= missing && sizes[dim - missing] == to[dim]);
             });
    });
  }
  /// What computes a view of what is computed: the function of such views.
  Operation *computedAs(RearrangeOp view) const {
    Operation *source = view.getSrc().getDefiningOp();
    size_t rank = typeOf(view.getSrc()).sizes().size();
    Operation *made = ofOperands(source, [&](Value operand) -> Value {
      Sizes own = typeOf(operand).sizes(), sizes;
      if (own.empty())
        return operand;
      int64_t missing = rank - own.size();
      SmallVector<int64_t> dims;
      for (int64_t dim : view.getDims()) {
        dims.push_back(dim < missing || own[dim - missing].isConstant(1) ? -1 : dim - missing);
        sizes.push_back(dims.back() < 0 ? Size(1) : own[dims.back()]);
      }
      auto type = GraphTensorType::of(rewriter.getContext(), sizes, typeOf(operand).getElement());
      return RearrangeOp::create(rewriter, loc, type, operand, dims);
    });
    return made;
  }
  /// Of the indices along `to` those along each dimension of the operand, where it has several.
  Value elementsOf(Value operand) const {
    IndexBuilder indices(rewriter, loc);
    Sizes own = inFull(operand), shape;
    SmallVector<Value> at(from.size());
    for (const Run &run : runs) {
      indicesIn(run, from, to, indices, at);
      for (size_t i = run.source; i < run.sourceEnd; ++i)
        if (own[i].isConstant(1))
          at[i] = indices.number(Size(0));
    }
    at.erase(at.begin(), at.end() - typeOf(operand).sizes().size());
    if (std::optional<size_t> along = dimOfPlaces(operand))
      return at[*along];
    unsigned dim;
    for (Value index : at)
      shape = *broadcast(shape, typeOf(index).sizes(), dim);
    auto type = GraphTensorType::of(rewriter.getContext(), shape, typeOf(operand).getElement());
    return GatherOp::create(rewriter, loc, type, operand, at, /*guarded=*/false);
  }

  PatternRewriter &rewriter;
  Location loc;
  Sizes from, to;
  SmallVector<Run> runs;
};
} // namespace

/// Whether another shape is of what can be computed of other shapes of the caller's arrays, for
/// this alone.
static bool needsNoShape(ReshapeOp op) {
  Operation *source = op.getSrc().getDefiningOp();
  if (auto view = dyn_cast_or_null<RearrangeOp>(source); view && view->hasOneUse())
    source = view.getSrc().getDefiningOp(); // what is computed there, in another order
  if (!isa_and_nonnull<MapOp, CastOp>(source) || !source->hasOneUse())
    return false;
  bool isEmpty = product(typeOf(op.getSrc()).sizes()) != product(op.getType().sizes());
  return !isEmpty && countOfCallers(op.getSrc(), OtherShape::kMostAgain);
}

/// Whether something that is computed of a value, element by element or row by row, is multiplied.
static bool isMultiplied(Value value) {
  SmallVector<Operation *> next(value.user_begin(), value.user_end());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (isa<MatmulOp>(op))
      return true;
    if (seen.insert(op).second)
      next.append(op->user_begin(), op->user_end());
  }
  return false;
}

/// Whether another shape is of what is computed of the caller's arrays and of what their rows are
/// reduced to, in a shape that these have as well: read once more, rows need not be stored. What is
/// multiplied is stored once for all blocks of the product.
static bool needsRowsAlone(ReshapeOp op, const OtherShape &shape) {
  Operation *source = op.getSrc().getDefiningOp();
  if (!isa_and_nonnull<MapOp, CastOp>(source) || !source->hasOneUse() || isMultiplied(op))
    return false;
  bool isEmpty = product(typeOf(op.getSrc()).sizes()) != product(op.getType().sizes());
  auto isOfRows = [&](Value value) { return shape.isOfRows(value); };
  return !isEmpty && countOfCallers(op.getSrc(), OtherShape::kMostAgain, isOfRows);
}

namespace {
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
      return shape && !isCallers(repeatedIn(shape.getSrc())) && !needsNoShape(shape) &&
             shape.getType().sizes() == typeOf(op->getResult(0)).sizes() &&
             llvm::all_of(shape->getUsers(), [&](Operation *user) { return user == op; });
    };
    ReshapeOp shape;
    for (Value operand : op->getOperands())
      if (auto own = operand.getDefiningOp<ReshapeOp>(); !shape && isMoved(own))
        shape = own;
    if (!shape)
      return failure();
    OtherShape source(rewriter, op->getLoc(), shape.getType().sizes(),
                      typeOf(shape.getSrc()).sizes());
    for (Value operand : op->getOperands())
      if (operand != shape.getResult() && !source.canBe(operand, byIndices))
        return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(operand == shape.getResult() ? shape.getSrc() : source.as(operand));
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(GraphTensorType::of(
        op->getContext(), typeOf(shape.getSrc()).sizes(), typeOf(op->getResult(0)).getElement()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(), moved->getResult(0));
    return success();
  }
};

/// Another shape of what is computed of the caller's arrays element by element is computed of other
/// shapes of those: nothing is stored for it. So is what rows are divided by, as of a norm.
struct ReshapeOfMap : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    OtherShape result(rewriter, op.getLoc(), typeOf(op.getSrc()).sizes(), op.getType().sizes());
    if (!needsNoShape(op) && !needsRowsAlone(op, result))
      return failure();
    auto isStored = [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); };
    if (llvm::all_of(op->getUsers(), isStored))
      return failure(); // in any shape
    Value value = result.as(op.getSrc());
    // Dimensions of one in front may be missing.
    size_t rank = typeOf(value).sizes().size(), missing = op.getType().sizes().size() - rank;
    SmallVector<int64_t> dims(missing, -1);
    llvm::append_range(dims, llvm::seq<int64_t>(0, rank));
    if (missing)
      value = RearrangeOp::create(rewriter, op.getLoc(), op.getType(), value, dims);
    if (value.getType() != op.getType())
      return failure(); // some dimension is of no operand: what was made is erased
    rewriter.replaceOp(op, value);
    return success();
  }
};
} // namespace

void tile::graph::addReshapePatterns(RewritePatternSet &patterns, bool withoutGaps) {
  patterns.add<ReshapeOfReshape, ReshapeOfMap>(patterns.getContext());
  patterns.add<LowerReshape>(patterns.getContext(), withoutGaps);
  patterns.add<MapBeforeReshape>(patterns.getContext(), /*byIndices=*/true);
}

void tile::graph::addShapedWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<ReshapeOfWindow>(patterns.getContext());
}

void tile::graph::addJoinedRowsPatterns(RewritePatternSet &patterns) {
  patterns.add<ProductOfJoinedRows, ReshapeOfReshape>(patterns.getContext());
  patterns.add<MapBeforeReshape>(patterns.getContext(), /*byIndices=*/false);
}
