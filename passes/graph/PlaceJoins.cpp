//===- PlaceJoins.cpp - parts of what is joined, each stored where it belongs --===//
//
// What is joined can be computed in two ways. Element by element every part is computed wherever
// it may be wanted, and one of them taken: right for what is read again at once, and n times the
// work where n parts are computed. Or each part is computed once, and stored into its place of the
// result: right for what is stored. `graph.join` is left where the second way is open, and becomes
// choices by place elsewhere.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/Indices.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/PartsOfJoined.h"
#include "passes/graph/Sources.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHPLACEJOINSPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;

#define DEBUG_TYPE "graph-place-joins"
ALWAYS_ENABLED_STATISTIC(joinsStored, "joined tensors whose parts are stored where they belong");

/// Parts that one kernel computes, at most: it holds what they have in common in registers.
static constexpr size_t kMostParts = 64;

/// The dimension that becomes dimension `axis` of what an operation with one more user makes of a
/// value; nothing if that is gone.
static std::optional<int64_t> axisBehind(Operation *user, Value value, int64_t axis) {
  if (auto view = dyn_cast<RearrangeOp>(user)) {
    const int64_t *found = llvm::find(view.getDims(), axis);
    return found == view.getDims().end() ? std::nullopt
                                         : std::optional(found - view.getDims().begin());
  }
  if (isa<CastOp>(user))
    return axis;
  if (!isa<MapOp>(user))
    return std::nullopt;
  return axis + int64_t(sizesOf(user->getResult(0)).size() - sizesOf(value).size());
}

/// Whether so few elements are combined that they are so one by one.
static bool isOfFew(ReduceOp op) {
  int64_t count = 1;
  for (int64_t axis : op.getAxes())
    count *=
        std::min(sizesOf(op.getSrc())[axis].constant().value_or(kFewReduced + 1), kFewReduced + 1);
  return count <= kFewReduced;
}

/// Whether a value is computed of what is combined along rows, in what may be its own kernel.
static bool needsRows(Value value) {
  bool found = false;
  visitSources(value, [&](Value source) {
    Operation *op = source.getDefiningOp();
    auto reduce = dyn_cast_or_null<ReduceOp>(op);
    found |= isa_and_nonnull<ScanOp>(op) || (reduce && !isOfFew(reduce));
    return !found && isa_and_nonnull<MapOp, CastOp, RearrangeOp, WindowOp, JoinOp, ReduceOp>(op);
  });
  return found;
}

/// Whether a part of what rows are combined to is among what a value is computed of: such rows are
/// gone through whole, by one kernel that has them in registers.
static bool takesPartsOfRows(Value value) {
  bool found = false;
  visitSources(value, [&](Value source) {
    Operation *op = source.getDefiningOp();
    if (auto window = dyn_cast_or_null<WindowOp>(op))
      found |= needsRows(window.getSrc());
    return !found && isa_and_nonnull<MapOp, CastOp, RearrangeOp, JoinOp>(op);
  });
  return found;
}

/// Whether parts can be of one kernel.
static bool canBeOne(JoinOp op) {
  return op.hasEqualParts() && op.getParts().size() <= kMostParts &&
         llvm::none_of(op.getParts(), takesPartsOfRows);
}

/// Whether all operands are joined alike, or none is: indices of one kernel are those of the parts'
/// parts.
static bool isNestedAlike(JoinOp op) {
  auto inner = op.getParts().front().getDefiningOp<JoinOp>();
  return llvm::all_of(op.getParts(), [&](Value part) {
    auto own = part.getDefiningOp<JoinOp>();
    return !inner ? !own
                  : own && own.getAxis() == inner.getAxis() && own.getAxis() != op.getAxis() &&
                        own.hasEqualParts() && own.partSizes() == inner.partSizes();
  });
}

/// Of each dimension of a reshape's result how many of the operand's it is made of; nothing if some
/// is not made of whole ones.
static std::optional<SmallVector<size_t>> mergedDims(ReshapeOp op) {
  Sizes from = sizesOf(op.getSrc()), to = op.getType().sizes();
  SmallVector<size_t> counts;
  size_t next = 0;
  for (const Size &size : to) {
    Size made(1);
    size_t count = 0;
    do {
      if (next == from.size())
        return std::nullopt;
      made = made * from[next++];
      ++count;
    } while (made != size);
    counts.push_back(count);
  }
  while (next < from.size()) { // ones at the end
    if (!from[next++].isConstant(1) || counts.empty())
      return std::nullopt;
    ++counts.back();
  }
  return counts;
}

/// Whether a value that broadcasts is the same along all dimensions that are made of several.
static bool hasNoneMerged(Value operand, ArrayRef<size_t> counts) {
  Sizes own = sizesOf(operand);
  for (auto [size, count] : llvm::zip(llvm::reverse(own), llvm::reverse(counts)))
    if (count > 1 && !size.isConstant(1))
      return false;
  return true;
}

/// Whether nothing but functions of the elements leads from a value of that shape to what is
/// stored, which could be done in the shape that the reshape was made of.
static bool isStoredBehindMaps(Value value, ArrayRef<size_t> counts) {
  if (isOnlyStored(value))
    return true;
  if (!value.hasOneUse())
    return false;
  Operation *user = *value.user_begin();
  return isa<MapOp, CastOp>(user) && sizesOf(user->getResult(0)) == sizesOf(value) &&
         llvm::all_of(user->getOperands(),
                      [&](Value operand) {
                        return operand == value || hasNoneMerged(operand, counts) ||
                               isCallers(operand);
                      }) &&
         isStoredBehindMaps(user->getResult(0), counts);
}

static bool goesBehindMaps(ReshapeOp op) {
  std::optional<SmallVector<size_t>> counts = mergedDims(op);
  return counts && isStoredBehindMaps(op.getResult(), *counts);
}

/// Whether what is joined reaches memory with nothing but functions of elements on its way.
static bool reachesMemory(Value value, int64_t axis) {
  if (isOnlyStored(value))
    return true;
  if (!value.hasOneUse())
    return false;
  Operation *user = *value.user_begin();
  if (auto outer = dyn_cast<JoinOp>(user))
    return int64_t(outer.getAxis()) != axis && canBeOne(outer) &&
           reachesMemory(outer.getResult(), int64_t(outer.getAxis()));
  if (auto shape = dyn_cast<ReshapeOp>(user))
    return goesBehindMaps(shape);
  std::optional<int64_t> behind = axisBehind(user, value, axis);
  if (!behind)
    return false;
  if (auto map = dyn_cast<MapOp>(user)) {
    auto goesAlong = [&](Value operand) { // and would be needed in parts
      Sizes own = sizesOf(operand);
      int64_t at = *behind - int64_t(map.getType().sizes().size() - own.size());
      return operand != value && at >= 0 && !own[at].isConstant(1);
    };
    for (Value operand : map.getOperands())
      if (goesAlong(operand) && needsRows(operand))
        return false;
  }
  return reachesMemory(user->getResult(0), *behind);
}

namespace {

/// A function of the elements of what is joined is joined of that of the parts, if it is stored.
struct SinkJoin : OpRewritePattern<JoinOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(JoinOp op, PatternRewriter &rewriter) const override {
    auto axis = int64_t(op.getAxis());
    if (!op->hasOneUse() || isOnlyStored(op.getResult()) || !canBeOne(op) ||
        !reachesMemory(op.getResult(), axis))
      return failure();
    Operation *user = *op->user_begin();
    std::optional<int64_t> behind = axisBehind(user, op.getResult(), axis);
    if (!behind)
      return failure();
    auto whole = typeOf(user->getResult(0));
    Size count = op.partSizes()[axis], start;
    SmallVector<Value> parts;
    rewriter.setInsertionPoint(user);
    for (Value part : op.getParts()) {
      SmallVector<Value> operands;
      for (Value operand : user->getOperands())
        operands.push_back(operand == op.getResult()
                               ? part
                               : partOf(rewriter, user->getLoc(), operand, whole.sizes().size(),
                                        *behind, start, count));
      Operation *made = rewriter.clone(*user);
      made->setOperands(operands);
      Sizes own = whole.sizes();
      own[*behind] = count;
      made->getResult(0).setType(GraphTensorType::of(op.getContext(), own, whole.getElement()));
      parts.push_back(made->getResult(0));
      start = start + count;
    }
    rewriter.replaceOpWithNewOp<JoinOp>(user, whole, parts, uint64_t(*behind));
    rewriter.eraseOp(op);
    return success();
  }
};

/// What is joined and gets another shape, of fewer dimensions, as halves are that lie beside each
/// other element by element: functions of the elements are done before, on the parts then.
struct ShapeBehindMaps : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto join = op.getSrc().getDefiningOp<JoinOp>();
    if (!join || !join->hasOneUse() || !canBeOne(join) || isOnlyStored(op.getResult()) ||
        !goesBehindMaps(op))
      return failure();
    SmallVector<size_t> counts = *mergedDims(op);
    Operation *user = *op->user_begin();
    rewriter.setInsertionPoint(user);
    SmallVector<Value> operands;
    for (Value operand : user->getOperands())
      operands.push_back(operand == op.getResult()
                             ? op.getSrc()
                             : inShape(rewriter, operand, sizesOf(op.getSrc()), counts));
    Operation *made = rewriter.clone(*user);
    made->setOperands(operands);
    auto whole = typeOf(user->getResult(0));
    made->getResult(0).setType(
        GraphTensorType::of(op.getContext(), sizesOf(op.getSrc()), whole.getElement()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(user, whole, made->getResult(0));
    return success();
  }

private:
  static Value inShape(OpBuilder &b, Value operand, const Sizes &whole, ArrayRef<size_t> counts) {
    Sizes own = sizesOf(operand), made;
    SmallVector<int64_t> dims;
    size_t first = counts.size() - own.size(), next = 0;
    for (size_t i = 0; i < first; ++i)
      next += counts[i];
    for (size_t i = 0; i < own.size(); ++i) {
      for (size_t j = 0; j < counts[first + i]; ++j, ++next) {
        bool isOne = own[i].isConstant(1);
        made.push_back(isOne ? Size(1) : whole[next]);
        dims.push_back(j == 0 ? int64_t(i) : -1);
      }
    }
    auto type = GraphTensorType::of(b.getContext(), made, typeOf(operand).getElement());
    if (hasNoneMerged(operand, counts))
      return RearrangeOp::create(b, operand.getLoc(), type, operand, dims);
    return ReshapeOp::create(b, operand.getLoc(), type, operand);
  }
};

/// A window that shows one part of what is joined is a window of that.
struct WindowOfPart : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    auto join = op.getSrc().getDefiningOp<JoinOp>();
    if (!join || !op.getInside())
      return failure();
    size_t axis = join.getAxis();
    Size start = startOf(op.getStarts()[axis]), end = start + op.getType().sizes()[axis], from;
    for (Value part : join.getParts()) {
      Size behind = from + sizesOf(part)[axis];
      if ((start - from).isNeverNegative() && (behind - end).isNeverNegative()) {
        SmallVector<Attribute> starts(op.getStarts().begin(), op.getStarts().end());
        starts[axis] = rewriter.getStringAttr((start - from).str());
        rewriter.replaceOpWithNewOp<WindowOp>(op, op.getType(), part, rewriter.getArrayAttr(starts),
                                              /*inside=*/true,
                                              /*loose=*/false);
        return success();
      }
      from = behind;
    }
    return failure();
  }
};

/// Sums of parts that lie behind each other with zeros around them, as gradients of parts are: what
/// they tile is joined. (A sum with zero is the other operand, but for the sign of a zero.)
struct JoinPadded : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    if (!isSum(op) || (op->hasOneUse() && isTerm(op, *op->user_begin())))
      return failure();
    SmallVector<Value> terms;
    collect(op, op.getType(), terms);
    for (size_t axis = 0; axis < op.getType().sizes().size(); ++axis) {
      SmallVector<Value> parts;
      llvm::SmallPtrSet<Operation *, 8> used;
      Size from, whole = op.getType().sizes()[axis];
      while (from != whole) {
        auto next = llvm::find_if(terms, [&](Value term) {
          auto window = term.getDefiningOp<WindowOp>();
          return window && !used.contains(window) && isPart(window, axis, from);
        });
        if (next == terms.end())
          break;
        auto window = next->getDefiningOp<WindowOp>();
        used.insert(window);
        parts.push_back(window.getSrc());
        from = from + sizesOf(window.getSrc())[axis];
      }
      if (from != whole || parts.size() < 2)
        continue;
      Value sum;
      auto add = [&](Value term) {
        sum = sum ? MapOp::create(rewriter, op.getLoc(), op.getType(), MapKind::add,
                                  ValueRange{sum, term})
                        .getResult()
                  : term;
      };
      for (Value term : terms)
        if (!used.contains(term.getDefiningOp()))
          add(term);
      add(JoinOp::create(rewriter, op.getLoc(), op.getType(), parts, axis));
      rewriter.replaceOp(op, sum);
      return success();
    }
    return failure();
  }

private:
  static bool isSum(MapOp op) {
    return op && op.getKind() == MapKind::add && isa<FloatType>(op.getType().getElement());
  }
  static bool isTerm(MapOp op, Operation *of) {
    auto sum = dyn_cast<MapOp>(of);
    return sum && isSum(sum) && sum.getType() == op.getType();
  }
  static void collect(MapOp op, GraphTensorType type, SmallVectorImpl<Value> &terms) {
    for (Value operand : op.getOperands()) {
      auto inner = operand.getDefiningOp<MapOp>();
      if (inner && isSum(inner) && inner.getType() == type && inner->hasOneUse())
        collect(inner, type, terms);
      else
        terms.push_back(operand);
    }
  }
  /// Whether a window has an array at `from` along the axis, whole, and nothing else.
  static bool isPart(WindowOp op, size_t axis, const Size &from) {
    if (op.getInside() || op.getLoose() || !op->hasOneUse())
      return false;
    Sizes own = sizesOf(op.getSrc()), whole = op.getType().sizes();
    for (auto [i, start] : llvm::enumerate(op.getStarts()))
      if (startOf(start) != (i == axis ? Size(0) - from : Size(0)) ||
          (i != axis && own[i] != whole[i]))
        return false;
    return true;
  }
};

struct GraphPlaceJoinsPass
    : public tile::graph::impl::GraphPlaceJoinsPassBase<GraphPlaceJoinsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<JoinPadded, ShapeBehindMaps, SinkJoin, WindowOfPart>(&getContext());
    addSmallReductionPatterns(patterns); // of parts
    FrozenRewritePatternSet all(std::move(patterns));
    separateJoins();
    // What is joined of parts needs parts of what those are computed with.
    constexpr int kRounds = 8; // two, mostly
    for (int round = 0; round < kRounds; ++round) {
      PartsOfJoined parts(getOperation());
      bool found = parts.takeWindows();
      found |= round > 0 && parts.joinResults(canBeStored); // those that do not sink as they are
      if (round > 1 && !found)
        break;
      if (failed(applyPatternsGreedily(getOperation(), all)))
        return signalPassFailure();
    }
    // From the last on: what an operand becomes depends on what becomes of its user.
    SmallVector<JoinOp> joins(getOperation().getOps<JoinOp>());
    for (JoinOp op : llvm::reverse(joins)) {
      if (isStored(op)) {
        ++joinsStored;
        LDBG() << getOperation().getName() << ": " << op.getParts().size() << " parts are stored";
      } else {
        choose(op);
      }
    }
  }

  /// Each user has a join of its own, of the same parts: one may store them, and another choose.
  /// What is taken of it by windows is chosen for all of them.
  void separateJoins() {
    SmallVector<JoinOp> joins(getOperation().getOps<JoinOp>());
    for (JoinOp op : llvm::reverse(joins))
      for (OpOperand &use : llvm::make_early_inc_range(op.getResult().getUses()))
        if (!op->hasOneUse() && !isa<WindowOp>(use.getOwner()))
          use.set(cast<JoinOp>(OpBuilder(op).clone(*op)).getResult());
  }

  static bool canBeStored(JoinOp op) { return canBeOne(op) && isNestedAlike(op); }

  static bool isStored(JoinOp op) {
    auto outer = op->hasOneUse() ? dyn_cast<JoinOp>(*op->user_begin()) : JoinOp();
    bool isPart = outer && isNestedAlike(outer); // which has been looked at, and is left
    return canBeOne(op) && (isPart || (isOnlyStored(op.getResult()) && isNestedAlike(op)));
  }

  /// The array of which all elements are joined, those from some place on first; null if it is
  /// something else.
  static Value rolledFrom(JoinOp op, Size &from) {
    if (op.getParts().size() != 2)
      return {};
    auto end = op.getParts()[0].getDefiningOp<WindowOp>(),
         start = op.getParts()[1].getDefiningOp<WindowOp>();
    bool isOfOne = end && start && end.getInside() && start.getInside() &&
                   end.getSrc() == start.getSrc() && end.getSrc().getType() == op.getType();
    if (!isOfOne)
      return {};
    for (auto [i, one, other] : llvm::enumerate(end.getStarts(), start.getStarts()))
      if (startOf(other) != Size(0) || (i != op.getAxis() && startOf(one) != Size(0)))
        return {};
    from = startOf(end.getStarts()[op.getAxis()]);
    return from == start.getType().sizes()[op.getAxis()] ? end.getSrc() : Value();
  }

  /// One element each, at a place that begins again where the array ends.
  static Value takeRolled(OpBuilder &b, JoinOp op, Value array, const Size &from) {
    Location loc = op.getLoc();
    Sizes whole = op.getType().sizes();
    IndexBuilder indices(b, loc);
    SmallVector<Value> at;
    for (size_t dim = 0; dim < whole.size(); ++dim)
      at.push_back(indices.along(whole[dim], dim, whole.size()));
    Value &place = at[op.getAxis()];
    Value behind = indices.plus(place, from),
          again = indices.plus(place, from - whole[op.getAxis()]);
    auto isThere = GraphTensorType::of(b.getContext(), sizesOf(place), b.getI1Type());
    Value end = indices.number(whole[op.getAxis()] - from);
    Value isBefore = MapOp::create(b, loc, isThere, MapKind::lt, ValueRange{place, end});
    place =
        MapOp::create(b, loc, typeOf(behind), MapKind::select, ValueRange{isBefore, behind, again});
    return GatherOp::create(b, loc, op.getType(), array, at, /*guarded=*/false);
  }

  /// Of one part that is elements of an array along the axis, each at a place of its own: that
  /// array, and the places, from the part's first element on.
  struct Taken {
    Value array, place;
  };

  static bool isWholeBut(ArrayAttr starts, const Sizes &own, const Sizes &whole, size_t axis) {
    for (size_t i = 0; i < own.size(); ++i)
      if (i != axis && (startOf(starts[i]) != Size(0) || own[i] != whole[i]))
        return false;
    return true;
  }

  static std::optional<Taken> takenFrom(IndexBuilder &indices, Value part, size_t axis) {
    part = behindNothing(part);
    Sizes sizes = sizesOf(part);
    Value place = indices.along(sizes[axis], axis, sizes.size());
    Operation *op = part.getDefiningOp();
    if (auto map = dyn_cast_or_null<MapOp>(op)) { // one element, often
      bool isSame = map.getKind() == MapKind::select && map.getOperand(1) == map.getOperand(2) &&
                    sizesOf(map.getOperand(1)).size() == sizes.size() &&
                    sizesOf(map.getOperand(1))[axis].isConstant(1);
      if (!isSame)
        return Taken{part, place};
      place = {};
      part = behindNothing(map.getOperand(1));
    } else if (auto gather = dyn_cast_or_null<GatherOp>(op)) {
      bool isAlong = !gather.getGuarded() && sizesOf(gather.getSrc()).size() == sizes.size();
      for (auto [dim, index] : llvm::enumerate(gather.getIndices())) {
        Sizes own = sizesOf(index);
        size_t front = sizes.size() - own.size();
        auto view = index.getDefiningOp<RearrangeOp>();
        bool isLine = (view ? view.getSrc() : index).getDefiningOp<IndexOp>();
        for (auto [i, size] : llvm::enumerate(own))
          isAlong &= size.isConstant(1) || front + i == dim;
        isAlong &= dim == axis ? isOfPlaces(index) : isLine || sizes[dim].isConstant(1);
      }
      if (!isAlong)
        return Taken{part, place};
      place = gather.getIndices()[axis];
      part = behindNothing(gather.getSrc());
    }
    if (auto window = part.getDefiningOp<WindowOp>();
        window && window.getInside() &&
        isWholeBut(window.getStarts(), window.getType().sizes(), sizesOf(window.getSrc()), axis)) {
      Size start = startOf(window.getStarts()[axis]);
      place = place ? indices.plus(place, start) : indices.number(start);
      part = behindNothing(window.getSrc());
    }
    if (!place)
      place = indices.number(Size(0));
    return Taken{part, place};
  }

  /// A value that is only called another way.
  static Value behindNothing(Value value) {
    while (auto view = value.getDefiningOp<RearrangeOp>()) {
      if (view.getType() != view.getSrc().getType() ||
          !llvm::equal(view.getDims(), llvm::seq<int64_t>(0, int64_t(view.getDims().size()))))
        break;
      value = view.getSrc();
    }
    return value;
  }

  /// Whether arrays are one, perhaps joined for each of its users.
  static bool areSame(Value one, Value other) {
    auto a = one.getDefiningOp<JoinOp>(), b = other.getDefiningOp<JoinOp>();
    return one == other ||
           (a && b && a.getAxis() == b.getAxis() && llvm::equal(a.getParts(), b.getParts()));
  }

  /// What is joined of an array and elements of it, as borders are that turn back what lies inside:
  /// one element each, at a place that depends on its own. Null if it is something else.
  static Value takeOfOne(OpBuilder &b, JoinOp op) {
    IndexBuilder indices(b, op.getLoc());
    size_t axis = op.getAxis();
    Sizes whole = op.getType().sizes();
    Value array, at, place = indices.along(whole[axis], axis, whole.size());
    auto along = sizesOf(place);
    auto type = GraphTensorType::of(b.getContext(), along, b.getI32Type());
    bool isWhole = false;
    Size from = whole[axis];
    for (Value part : llvm::reverse(op.getParts())) {
      std::optional<Taken> taken = takenFrom(indices, part, axis);
      if (!taken || (array && !areSame(taken->array, array)))
        return {};
      array = taken->array;
      Size end = from;
      from = from - sizesOf(part)[axis];
      Value there = taken->place;
      if (!sizesOf(there).empty() && !sizesOf(there).front().isConstant(1)) {
        SmallVector<Attribute> starts(sizesOf(there).size(), b.getStringAttr("0"));
        starts.front() = b.getStringAttr((Size(0) - from).str());
        there = WindowOp::create(
            b, op.getLoc(), GraphTensorType::of(b.getContext(), along, typeOf(there).getElement()),
            there, b.getArrayAttr(starts), /*inside=*/false, /*loose=*/true);
      }
      if (at) {
        Value isIts =
            MapOp::create(b, op.getLoc(), GraphTensorType::of(b.getContext(), along, b.getI1Type()),
                          MapKind::lt, ValueRange{place, indices.number(end)});
        there = MapOp::create(b, op.getLoc(), type, MapKind::select, ValueRange{isIts, there, at});
      }
      at = there;
      isWhole |= areSame(behindNothing(part), array);
    }
    if (!isWhole)
      return {};
    SmallVector<Value> places;
    for (size_t dim = 0; dim < whole.size(); ++dim)
      places.push_back(dim == axis ? at : indices.along(whole[dim], dim, whole.size()));
    return GatherOp::create(b, op.getLoc(), op.getType(), array, places, /*guarded=*/false);
  }

  /// From the last part on, everything that lies before its part is another's.
  static void choose(JoinOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Size shift;
    if (Value array = rolledFrom(op, shift)) {
      op.getResult().replaceAllUsesWith(takeRolled(b, op, array, shift));
      op.erase();
      return;
    }
    if (Value taken = takeOfOne(b, op)) {
      op.getResult().replaceAllUsesWith(taken);
      op.erase();
      return;
    }
    size_t axis = op.getAxis();
    Sizes whole = op.getType().sizes();
    IndexBuilder indices(b, loc);
    Value place = indices.along(whole[axis], axis, whole.size()), joined;
    Size from = whole[axis];
    for (Value part : llvm::reverse(op.getParts())) {
      Size end = from;
      from = from - sizesOf(part)[axis];
      SmallVector<Attribute> starts(whole.size(), b.getStringAttr("0"));
      starts[axis] = b.getStringAttr((Size(0) - from).str());
      Value there = WindowOp::create(b, loc, op.getType(), part, b.getArrayAttr(starts),
                                     /*inside=*/false, /*loose=*/true);
      if (!joined) {
        joined = there;
        continue;
      }
      Sizes along = sizesOf(place);
      Value isIts = MapOp::create(b, loc, GraphTensorType::of(b.getContext(), along, b.getI1Type()),
                                  MapKind::lt, ValueRange{place, indices.number(end)});
      joined =
          MapOp::create(b, loc, op.getType(), MapKind::select, ValueRange{isIts, there, joined});
    }
    op.getResult().replaceAllUsesWith(joined);
    op.erase();
  }
};
} // namespace
