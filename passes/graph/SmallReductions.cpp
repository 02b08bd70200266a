//===- SmallReductions.cpp - sums of a few numbers, element by element -----===//
//
// The distance of each of many points from each of many others is a sum along two or three
// coordinates, of differences that nobody stores. As rows of three elements they would fill blocks
// badly, and what is reduced of the distances would read them from memory. Each coordinate is
// computed for itself instead, and the sum is one of maps. So it is where rows that are divided by
// their lengths are taken apart at once, as quaternions are.
//
//===----------------------------------------------------------------------===//
#include "ir/graph/Graph.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/Sources.h"
#include "passes/graph/Space.h"

using namespace mlir;
using namespace tile::graph;

/// Operations that are made of all that is reduced, at most.
static constexpr int64_t kMostOperations = 64;

/// Elements that are combined one by one, at most, where others lie further in.
static constexpr int64_t kFewOutside = 16;

static std::optional<MapKind> mapOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
    return MapKind::add;
  case ReduceKind::prod:
    return MapKind::mul;
  case ReduceKind::max:
    return MapKind::maximum;
  case ReduceKind::min:
    return MapKind::minimum;
  default:
    return std::nullopt;
  }
}

bool tile::graph::isOfRepeatedArrays(Value value) {
  bool repeats = true;
  visitSources(value, [&](Value source) {
    Operation *op = source.getDefiningOp();
    if (isa_and_nonnull<MapOp, CastOp, RearrangeOp>(op))
      return true;
    repeats &= dimensionsOf(source) < dimensionsOf(value);
    return false;
  });
  return repeats;
}

/// Operations that compute a value, element by element, along one of its dimensions: each is there
/// once for each element that is combined. What is the same for all of them is there once.
static int64_t countAlong(Value value, int64_t axis) {
  int64_t count = 0;
  SmallVector<std::pair<Value, int64_t>> next = {{value, axis}};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    auto [one, at] = next.pop_back_val();
    Operation *op = one.getDefiningOp();
    if (!isa_and_nonnull<MapOp, CastOp, RearrangeOp>(op) || !seen.insert(op).second)
      continue;
    count += !isa<RearrangeOp>(op);
    for (Value operand : op->getOperands()) {
      auto view = dyn_cast<RearrangeOp>(op);
      int64_t in =
          view ? view.getDims()[at] : at - int64_t(sizesOf(one).size() - sizesOf(operand).size());
      if (in >= 0 && !sizesOf(operand)[in].isConstant(1))
        next.push_back({operand, in});
    }
  }
  return count;
}

/// What is computed of `result` element by element, as others need it: whether a reduction or a
/// product of other elements is, and whether it is met again by what it was reduced of.
static std::pair<bool, bool> usesOf(Value result) {
  bool isReduced = false, isMetAgain = false;
  SmallVector<Operation *> next(result.user_begin(), result.user_end());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    isReduced |= isa<ReduceOp, MatmulOp>(op);
    if (!isa<MapOp, CastOp, RearrangeOp>(op))
      continue;
    isMetAgain |= dimensionsOf(op->getResult(0)) > dimensionsOf(result);
    next.append(op->user_begin(), op->user_end());
  }
  return {isReduced, isMetAgain};
}

/// Whether what `result` meets the rows in again that it was reduced of, as a length does when they
/// are divided by it, is taken apart into single elements, and nothing else: no row is ever needed.
static bool isTakenApart(Value result) {
  bool isTaken = false;
  SmallVector<Operation *> next(result.user_begin(), result.user_end());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    if (op->getNumResults() != 1)
      return false;
    bool isRow = dimensionsOf(op->getResult(0)) > dimensionsOf(result);
    bool isOfRow = llvm::any_of(op->getOperands(), [&](Value operand) {
      return seen.contains(operand.getDefiningOp()) && dimensionsOf(operand) > dimensionsOf(result);
    });
    isTaken |= isOfRow && !isRow && isa<WindowOp>(op);
    if (isRow ? !isa<MapOp, CastOp, RearrangeOp>(op) : isOfRow && !isa<WindowOp>(op))
      return false;
    if (isRow || isa<MapOp, CastOp, RearrangeOp>(op))
      next.append(op->user_begin(), op->user_end());
  }
  return isTaken;
}

/// Whether what is combined lies further out than other elements, which are neighbours in memory:
/// then these are what a program's threads have beside each other, and each combines its own.
static bool liesOutside(Value source, int64_t axis) {
  Sizes sizes = sizesOf(source);
  return axis + 1 < int64_t(sizes.size()) && !sizes.back().isConstant(1) &&
         sizes.back().constant().value_or(kFewOutside + 1) > kFewOutside;
}

/// Whether columns of what a value is computed of are there, along a dimension, or are taken by
/// others: then rows are nowhere.
static bool isOfColumns(Value value, int64_t axis) {
  bool isOfSome = false, isAll = true;
  SmallVector<std::pair<Value, int64_t>> next = {{value, axis}};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    auto [one, at] = next.pop_back_val();
    Operation *op = one.getDefiningOp();
    auto join = dyn_cast_or_null<JoinOp>(op);
    bool isTaken = llvm::any_of(one.getUsers(), [&, at = at](Operation *user) {
      auto window = dyn_cast<WindowOp>(user);
      return window && window.getType().sizes()[at].isConstant(1);
    });
    if (isTaken || (join && int64_t(join.getAxis()) == at)) {
      isOfSome = true;
    } else if (isa_and_nonnull<MapOp, CastOp, RearrangeOp>(op)) {
      if (!seen.insert(op).second)
        continue;
      for (Value operand : op->getOperands()) {
        auto view = dyn_cast<RearrangeOp>(op);
        int64_t in =
            view ? view.getDims()[at] : at - int64_t(sizesOf(one).size() - sizesOf(operand).size());
        if (in >= 0 && !sizesOf(operand)[in].isConstant(1))
          next.push_back({operand, in});
      }
    } else {
      isAll = false;
    }
  }
  return isOfSome && isAll;
}

namespace {
/// One element of each row of a value, as a dimension of one, computed of one of each that it is
/// computed of: what several need once.
class Column {
public:
  Column(PatternRewriter &rewriter, int64_t place) : rewriter(rewriter), place(place) {}

  /// `fromEnd`: the dimension, counted from behind the last.
  Value of(Value value, int64_t fromEnd) {
    Sizes sizes = typeOf(value).sizes();
    int64_t axis = int64_t(sizes.size()) - fromEnd;
    if (axis < 0 || sizes[axis].isConstant(1))
      return value; // the same for all
    Value &known = made[{value, fromEnd}];
    if (known)
      return known;
    sizes[axis] = Size(1);
    auto type = GraphTensorType::of(rewriter.getContext(), sizes, typeOf(value).getElement());
    Operation *op = value.getDefiningOp();
    Value part;
    if (isa_and_nonnull<MapOp, CastOp>(op)) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(of(operand, fromEnd));
      Operation *copy = rewriter.clone(*op);
      copy->setOperands(operands);
      copy->getResult(0).setType(type);
      part = copy->getResult(0);
    } else if (auto view = dyn_cast_or_null<RearrangeOp>(op)) {
      int64_t own = view.getDims()[axis], rank = int64_t(typeOf(view.getSrc()).sizes().size());
      part = RearrangeOp::create(rewriter, op->getLoc(), type, of(view.getSrc(), rank - own),
                                 view.getDims());
    } else {
      SmallVector<Attribute> starts(sizes.size(), rewriter.getStringAttr("0"));
      starts[axis] = rewriter.getStringAttr(Size(place).str());
      part = WindowOp::create(rewriter, value.getLoc(), type, value, rewriter.getArrayAttr(starts),
                              /*inside=*/true, /*loose=*/false);
    }
    return made[{value, fromEnd}] = part;
  }

private:
  PatternRewriter &rewriter;
  int64_t place;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> made;
};

struct UnrollSmallReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Value source = op.getSrc();
    std::optional<MapKind> kind = mapOf(op.getKind());
    Sizes sizes = typeOf(source).sizes();
    if (!kind || op.getAxes().size() != 1)
      return failure();
    int64_t axis = op.getAxes().front();
    std::optional<int64_t> count = sizes[axis].constant();
    auto [isReduced, isMetAgain] = usesOf(op.getResult());
    bool isOutside = !isMetAgain && !isReduced && liesOutside(source, axis);
    if (!count || *count < 2 || *count > (isOutside ? kFewOutside : kFewReduced) ||
        countAlong(source, axis) * *count > kMostOperations)
      return failure();
    bool isOfFew = isa_and_nonnull<MapOp, CastOp>(source.getDefiningOp()) &&
                   isOfRepeatedArrays(source) &&
                   (!isMetAgain || isReduced); // else a row is at hand
    if (!isOfFew && !isOutside && !isTakenApart(op.getResult()) && !isOfColumns(source, axis))
      return failure();
    Location loc = op.getLoc();
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim)
      if (dim != axis)
        dims.push_back(dim);
    Value whole;
    for (int64_t i = 0; i < *count; ++i) {
      Value part = Column(rewriter, i).of(source, int64_t(sizes.size()) - axis);
      auto type =
          GraphTensorType::of(op.getContext(), op.getType().sizes(), typeOf(part).getElement());
      part = RearrangeOp::create(rewriter, loc, type, part, dims);
      if (type != op.getType()) // whole numbers are added up in more bits
        part = CastOp::create(rewriter, loc, op.getType(), part);
      whole = whole ? MapOp::create(rewriter, loc, op.getType(), *kind, ValueRange{whole, part})
                          .getResult()
                    : part;
    }
    rewriter.replaceOp(op, whole);
    return success();
  }
};

/// What all pairs give and is added up altogether is added up by rows first: other sums along them
/// are there, and no program has to find a pair by its number.
struct ReducePairsByRows : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Sizes sizes = sizesOf(op.getSrc());
    Type element = op.getType().getElement();
    int64_t last = int64_t(sizes.size()) - 1;
    bool isWide =
        element.isF32() || element.isF64() || element.isInteger(32) || element.isInteger(64);
    if (!mapOf(op.getKind()) || !isWide || dimensionsOf(op.getSrc()) < 2 ||
        int64_t(op.getAxes().size()) != last + 1 || sizes[last].isConstant(1) ||
        !isa_and_nonnull<MapOp, CastOp>(op.getSrc().getDefiningOp()) ||
        !isOfRepeatedArrays(op.getSrc()))
      return failure();
    sizes.pop_back();
    auto rows = ReduceOp::create(rewriter, op.getLoc(),
                                 GraphTensorType::of(op.getContext(), sizes, element), op.getKind(),
                                 op.getSrc(), ArrayRef<int64_t>{last});
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), rows.getResult(),
                                          op.getAxes().drop_back());
    return success();
  }
};
} // namespace

void tile::graph::addPairReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<ReducePairsByRows>(patterns.getContext());
}

void tile::graph::addSmallReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<UnrollSmallReduction>(patterns.getContext());
}
