//===- PartsOfJoined.cpp - what is computed of parts, part by part ---------===//
//
// Points of three coordinates, quaternions, colours: a dimension of a few elements whose elements
// are not alike. Formulas over such arrays take columns, do something else with each, and put the
// results side by side. Element by element every column would be computed wherever it may be
// wanted, and one of them taken; rows of three elements would fill blocks badly. Column by column
// there are arrays of one dimension less, each computed once.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/PartsOfJoined.h"
#include "passes/graph/Indices.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/Sources.h"
#include "passes/graph/Space.h"
#include <numeric>

using namespace mlir;
using namespace tile::graph;

/// Parts that a result is made of here, at most: all of them are computed at once. More of those
/// that are vectors, most of which are there and nothing but copied.
static constexpr int64_t kMostColumns = 8, kMostVectors = 32, kVector = 8;
/// And parts of all parts.
static constexpr int64_t kMostParts = 64;

bool tile::graph::isOnlyStored(Value value) {
  auto isEnd = [](Operation *user) {
    if (auto shape = dyn_cast<ReshapeOp>(user))
      return isOnlyStored(shape.getResult());
    return user->hasTrait<OpTrait::IsTerminator>() || isa<LaunchOp>(user);
  };
  return !value.use_empty() && llvm::all_of(value.getUsers(), isEnd);
}

Value tile::graph::partOf(OpBuilder &b, Location loc, Value value, size_t rank, int64_t axis,
                          const Size &start, const Size &count) {
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

/// Operations whose elements are computed of those in the same place, but for what they reduce and
/// where a window begins.
static bool goesAlong(Operation *op) {
  return isa_and_nonnull<MapOp, CastOp, RearrangeOp, ReduceOp>(op);
}

/// The dimension of an operand that is dimension `axis` of what is computed of it; nothing if it is
/// the same for all.
static std::optional<int64_t> axisIn(Operation *op, Value operand, int64_t axis) {
  int64_t at = axis;
  if (auto view = dyn_cast<RearrangeOp>(op)) {
    at = view.getDims()[axis];
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    for (int64_t gone : reduce.getAxes()) // in order
      at += gone <= at;
  } else if (isa<MapOp, GatherOp>(op)) {
    at -= int64_t(sizesOf(op->getResult(0)).size() - sizesOf(operand).size());
  }
  return at < 0 || sizesOf(operand)[at].isConstant(1) ? std::nullopt : std::optional(at);
}

/// Where a window shows elements of its operand along a dimension, and nothing else.
static std::optional<int64_t> startInside(WindowOp op, int64_t axis) {
  std::optional<int64_t> start = startOf(op.getStarts()[axis]).constant(),
                         own = op.getType().sizes()[axis].constant(),
                         whole = sizesOf(op.getSrc())[axis].constant();
  return start && own && whole && *start >= 0 && *start + *own <= *whole ? start : std::nullopt;
}

/// The dimension that a window shows a known part of, and all of the others.
static std::optional<int64_t> axisOfPart(WindowOp op) {
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

bool PartsOfJoined::takeWindows() {
  bool found = false;
  SmallVector<WindowOp> windows(function.getOps<WindowOp>());
  for (WindowOp op : windows) {
    std::optional<int64_t> axis = axisOfPart(op);
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

bool PartsOfJoined::isOfJoined(Value value, int64_t axis) {
  auto [known, isNew] = ofJoined.try_emplace({value, axis}, false);
  Operation *op = value.getDefiningOp();
  if (!isNew || !op)
    return known->second;
  bool is = false;
  if (auto join = dyn_cast<JoinOp>(op))
    is = int64_t(join.getAxis()) == axis;
  else if (auto window = dyn_cast<WindowOp>(op))
    is = startInside(window, axis) && isOfJoined(window.getSrc(), axis);
  else if (goesAlong(op))
    is = llvm::any_of(op->getOperands(), [&](Value operand) {
      std::optional<int64_t> at = axisIn(op, operand, axis);
      return at && isOfJoined(operand, *at);
    });
  return ofJoined[{value, axis}] = is;
}

Value PartsOfJoined::of(Value value, int64_t axis, const Size &start, const Size &count) {
  std::tuple key = {value.getAsOpaquePointer(), axis, start.str() + ":" + count.str()};
  if (auto known = made.find(key); known != made.end())
    return known->second;
  OpBuilder b(function.getContext());
  b.setInsertionPointAfterValue(value);
  Operation *op = value.getDefiningOp();
  auto join = dyn_cast_or_null<JoinOp>(op);
  if (join && int64_t(join.getAxis()) == axis) {
    Size from;
    for (Value one : join.getParts()) {
      Size own = sizesOf(one)[axis], behind = from + own;
      if ((start - from).isNeverNegative() && (behind - start - count).isNeverNegative())
        return made[key] = from == start && own == count ? one : of(one, axis, start - from, count);
      from = behind;
    }
  }
  Sizes sizes = sizesOf(value);
  auto window = dyn_cast_or_null<WindowOp>(op);
  std::optional<int64_t> shift = window ? startInside(window, axis) : std::nullopt;
  if (join || !(goesAlong(op) || shift) || sizes[axis] == count)
    return made[key] = sizes[axis] == count
                           ? value
                           : partOf(b, value.getLoc(), value, sizes.size(), axis, start, count);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> at = window ? std::optional(axis) : axisIn(op, operand, axis);
    operands.push_back(at ? of(operand, *at, start + Size(shift.value_or(0)), count) : operand);
  }
  b.setInsertionPointAfterValue(value);
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  sizes[axis] = count;
  copy->getResult(0).setType(
      GraphTensorType::of(function.getContext(), sizes, typeOf(value).getElement()));
  if (window) {
    SmallVector<Attribute> starts(window.getStarts().begin(), window.getStarts().end());
    starts[axis] = b.getStringAttr("0");
    cast<WindowOp>(copy).setStartsAttr(b.getArrayAttr(starts));
  }
  return made[key] = copy->getResult(0);
}

void PartsOfJoined::findStarts(Value value, int64_t axis, int64_t offset) {
  Operation *op = value.getDefiningOp();
  if (!op || !visited.insert({value.getAsOpaquePointer(), axis, offset}).second)
    return;
  if (auto join = dyn_cast<JoinOp>(op); join && int64_t(join.getAxis()) == axis) {
    int64_t from = 0;
    for (Value part : join.getParts()) {
      starts.insert(from - offset);
      findStarts(part, axis, offset - from);
      from += sizesOf(part)[axis].constant().value_or(0);
    }
  } else if (auto window = dyn_cast<WindowOp>(op)) {
    if (std::optional<int64_t> start = startInside(window, axis))
      findStarts(window.getSrc(), axis, offset + *start);
  } else if (goesAlong(op)) {
    for (Value operand : op->getOperands())
      if (std::optional<int64_t> at = axisIn(op, operand, axis))
        findStarts(operand, *at, offset);
  }
}

/// Whether a value is a sum (or another reduction) along other dimensions of what columns are
/// needed for one by one: of what is combined along the same dimension, as lengths are, or of what
/// repeats arrays, as differences of all points from all others do.
static bool addsUpColumns(Value value, int64_t axis) {
  SmallVector<std::pair<Value, int64_t>> next = {{value, axis}}, seen;
  SmallVector<ReduceOp> reductions;
  bool isOfRepeated = false, isReduced = false;
  std::set<std::pair<void *, int64_t>> visited;
  while (!next.empty()) {
    auto [one, at] = next.pop_back_val();
    Operation *op = one.getDefiningOp();
    if (!visited.insert({one.getAsOpaquePointer(), at}).second)
      continue;
    seen.push_back({one, at});
    if (!goesAlong(op))
      continue;
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (axisIn(op, reduce.getSrc(), at) != int64_t(sizesOf(reduce.getSrc()).size()) - 1)
        return false; // rows, each of which is one
      isReduced = true;
      isOfRepeated |= isOfRepeatedArrays(reduce.getSrc());
    }
    for (Value operand : op->getOperands()) {
      if (std::optional<int64_t> in = axisIn(op, operand, at))
        next.push_back({operand, *in});
      else // something that is the same for all columns, as a length is
        visitSources(operand, [&](Value source) {
          if (auto reduce = source.getDefiningOp<ReduceOp>())
            reductions.push_back(reduce);
          return isa_and_nonnull<MapOp, CastOp, RearrangeOp>(source.getDefiningOp());
        });
    }
  }
  auto combinesColumns = [&](ReduceOp reduce) {
    return llvm::any_of(seen, [&](std::pair<Value, int64_t> along) {
      bool found = false;
      visitSources(reduce.getSrc(), [&](Value source) {
        found |= source == along.first;
        return !found && isa_and_nonnull<MapOp, CastOp, RearrangeOp>(source.getDefiningOp());
      });
      return found && reduce.getAxes().size() == 1 &&
             sizesOf(reduce.getSrc())[reduce.getAxes().front()] ==
                 sizesOf(along.first)[along.second];
    });
  };
  return isReduced && (isOfRepeated || llvm::any_of(reductions, combinesColumns));
}

/// How many elements along a dimension belong together in all of `values`; 0: none are looked at
/// one by one, or too few.
int64_t PartsOfJoined::elementsTogether(ArrayRef<Value> values, int64_t axis) {
  std::optional<int64_t> whole = sizesOf(values.front())[axis].constant();
  if (!whole || *whole < 2)
    return 0;
  starts.clear();
  visited.clear();
  for (Value value : values)
    if (isOfJoined(value, axis))
      findStarts(value, axis, 0);
    else if (*whole <= kFewReduced && addsUpColumns(value, axis))
      starts.insert({0, 1});
  int64_t each = *whole;
  for (int64_t start : starts)
    if (start > 0 && start < *whole)
      each = std::gcd(each, start);
  int64_t count = *whole / each * int64_t(values.size());
  int64_t most = each >= kVector ? kMostVectors : kMostColumns;
  return each == *whole || *whole / each > most || count > kMostParts ? 0 : each;
}

Value PartsOfJoined::joinedOfParts(Value value, int64_t axis, int64_t each) {
  int64_t whole = *sizesOf(value)[axis].constant();
  SmallVector<Value> parts;
  for (int64_t start = 0; start < whole; start += each)
    parts.push_back(of(value, axis, Size(start), Size(each)));
  OpBuilder b(*value.user_begin());
  return JoinOp::create(b, value.getLoc(), typeOf(value), parts, uint64_t(axis)).getResult();
}

Value PartsOfJoined::joined(Value value, llvm::function_ref<bool(JoinOp)> canBeStored) {
  Operation *op = value.getDefiningOp();
  auto outer = dyn_cast_or_null<JoinOp>(op);
  bool isStored = outer && canBeStored(outer);
  if (!outer && !goesAlong(op))
    return {};
  // Of what is joined already each part may be joined along another dimension, all alike.
  SmallVector<Value> values =
      isStored ? llvm::to_vector(outer.getParts()) : SmallVector<Value>{value};
  if (isStored && llvm::any_of(values, [](Value part) {
        return part.getDefiningOp<JoinOp>() || !part.hasOneUse();
      }))
    return {};
  for (int64_t axis = int64_t(sizesOf(value).size()) - 1; axis >= 0; --axis) {
    int64_t each =
        isStored && axis == int64_t(outer.getAxis()) ? 0 : elementsTogether(values, axis);
    if (each == 0)
      continue;
    SmallVector<Value> made;
    for (Value one : values)
      made.push_back(joinedOfParts(one, axis, each));
    JoinOp join = made.front().getDefiningOp<JoinOp>();
    if (isStored) {
      OpBuilder b(*value.user_begin());
      join = JoinOp::create(b, value.getLoc(), typeOf(value), made, outer.getAxis());
    }
    if (canBeStored(join))
      return join.getResult();
    join.erase();
  }
  return {};
}

bool PartsOfJoined::joinResults(llvm::function_ref<bool(JoinOp)> canBeStored) {
  SmallVector<OpOperand *> uses;
  for (Operation &op : function.getBody().front())
    if (op.hasTrait<OpTrait::IsTerminator>() || isa<LaunchOp>(op))
      for (OpOperand &use : op.getOpOperands())
        uses.push_back(&use);
  bool found = false;
  for (OpOperand *use : uses) {
    while (auto shape = use->get().getDefiningOp<ReshapeOp>()) {
      if (!shape->hasOneUse())
        break;
      use = &shape.getSrcMutable();
    }
    if (!use->get().hasOneUse())
      continue;
    if (Value value = joined(use->get(), canBeStored)) {
      use->set(value);
      found = true;
    }
  }
  return found;
}
