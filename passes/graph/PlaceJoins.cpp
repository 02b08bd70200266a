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
#include "passes/graph/Sources.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include <map>

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

/// Whether nothing but a view leads from a value to what is returned, or is given to a kernel that
/// somebody wrote: it has to be stored as it is.
static bool isOnlyStored(Value value) {
  auto isEnd = [](Operation *user) {
    if (auto shape = dyn_cast<ReshapeOp>(user))
      return isOnlyStored(shape.getResult());
    return user->hasTrait<OpTrait::IsTerminator>() || isa<LaunchOp>(user);
  };
  return !value.use_empty() && llvm::all_of(value.getUsers(), isEnd);
}

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

/// The part of a value that broadcasts to what is joined which belongs to one of its parts.
Value partOf(OpBuilder &b, Location loc, Value value, size_t rank, int64_t axis, const Size &start,
             const Size &count) {
  Sizes own = sizesOf(value);
  int64_t at = axis - int64_t(rank - own.size());
  if (at < 0 || own[at].isConstant(1))
    return value;
  SmallVector<Attribute> starts(own.size(), b.getStringAttr("0"));
  starts[at] = b.getStringAttr(start.str());
  own[at] = count;
  auto type = GraphTensorType::of(b.getContext(), own, typeOf(value).getElement());
  return WindowOp::create(b, loc, type, value, b.getArrayAttr(starts), /*inside=*/true,
                          /*loose=*/false);
}

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

/// Parts of what is computed, element by element, of what is joined: each is computed of parts, as
/// the coordinates of a state are that is put together and taken apart at every step. Each part
/// once, behind what it is a part of.
class PartsOfJoined {
public:
  explicit PartsOfJoined(func::FuncOp function) : function(function) {}
  /// Whether there were any.
  bool run() {
    bool found = false;
    SmallVector<WindowOp> windows(function.getOps<WindowOp>());
    for (WindowOp op : windows) {
      std::optional<int64_t> axis = axisOf(op);
      if (!axis || !isOfJoined(op.getSrc(), *axis))
        continue;
      Value part =
          of(op.getSrc(), *axis, startOf(op.getStarts()[*axis]), op.getType().sizes()[*axis]);
      op.replaceAllUsesWith(part);
      op.erase();
      found = true;
    }
    return found;
  }

private:
  /// The dimension that a window shows a known part of, and all of the others.
  static std::optional<int64_t> axisOf(WindowOp op) {
    std::optional<int64_t> found;
    Sizes own = op.getType().sizes(), whole = sizesOf(op.getSrc());
    for (auto [axis, start] : llvm::enumerate(op.getStarts())) {
      if (startOf(start) == Size(0) && own[axis] == whole[axis])
        continue;
      if (found || !startOf(start).constant() || !own[axis].constant() || !whole[axis].constant())
        return std::nullopt;
      found = int64_t(axis);
    }
    return op.getInside() ? found : std::nullopt;
  }

  /// The dimension of an operand that is dimension `axis` of what is computed of it; nothing if it
  /// is the same for all.
  static std::optional<int64_t> axisIn(Operation *op, Value operand, int64_t axis) {
    int64_t at = axis;
    if (auto view = dyn_cast<RearrangeOp>(op))
      at = view.getDims()[axis];
    else if (isa<MapOp>(op))
      at -= int64_t(sizesOf(op->getResult(0)).size() - sizesOf(operand).size());
    return at < 0 || sizesOf(operand)[at].isConstant(1) ? std::nullopt : std::optional(at);
  }

  bool isOfJoined(Value value, int64_t axis) {
    auto [known, isNew] = joined.try_emplace({value, axis}, false);
    Operation *op = value.getDefiningOp();
    if (!isNew || !op)
      return known->second;
    bool is = false;
    if (auto join = dyn_cast<JoinOp>(op))
      is = int64_t(join.getAxis()) == axis;
    else if (isa<MapOp, CastOp, RearrangeOp>(op))
      is = llvm::any_of(op->getOperands(), [&](Value operand) {
        std::optional<int64_t> at = axisIn(op, operand, axis);
        return at && isOfJoined(operand, *at);
      });
    return joined[{value, axis}] = is;
  }

  Value of(Value value, int64_t axis, const Size &start, const Size &count) {
    Value &known = made[{value.getAsOpaquePointer(), axis, start.str() + ":" + count.str()}];
    if (known)
      return known;
    OpBuilder b(function.getContext());
    b.setInsertionPointAfterValue(value);
    Operation *op = value.getDefiningOp();
    auto join = dyn_cast_or_null<JoinOp>(op);
    if (join && int64_t(join.getAxis()) == axis) {
      Size from;
      for (Value one : join.getParts()) {
        Size own = sizesOf(one)[axis];
        if (from == start && own == count)
          return known = one;
        from = from + own;
      }
    }
    if (join || !isOfJoined(value, axis))
      return known = partOf(b, value.getLoc(), value, sizesOf(value).size(), axis, start, count);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> at = axisIn(op, operand, axis);
      operands.push_back(at ? of(operand, *at, start, count) : operand);
    }
    Operation *copy = b.clone(*op);
    copy->setOperands(operands);
    Sizes sizes = sizesOf(value);
    sizes[axis] = count;
    copy->getResult(0).setType(
        GraphTensorType::of(function.getContext(), sizes, typeOf(value).getElement()));
    return made[{value.getAsOpaquePointer(), axis, start.str() + ":" + count.str()}] =
               copy->getResult(0);
  }

  func::FuncOp function;
  DenseMap<std::pair<Value, int64_t>, bool> joined;
  std::map<std::tuple<void *, int64_t, std::string>, Value> made;
};

struct GraphPlaceJoinsPass
    : public tile::graph::impl::GraphPlaceJoinsPassBase<GraphPlaceJoinsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<JoinPadded, SinkJoin, WindowOfPart>(&getContext());
    FrozenRewritePatternSet all(std::move(patterns));
    // What is joined of parts needs parts of what those are computed with.
    constexpr int kRounds = 8; // two, mostly
    for (int round = 0; round < kRounds; ++round) {
      bool found = PartsOfJoined(getOperation()).run();
      if (round > 0 && !found)
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
