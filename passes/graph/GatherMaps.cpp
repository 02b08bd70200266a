//===- GatherMaps.cpp - elements of what is computed element by element ---===//
//
// Elements of what is taken by indices are taken where those of their places say: of every second
// column every second row. Few elements of a map are the map of few elements: of the logarithms of
// a softmax those of the labels are computed of what was given for these and what is known of their
// rows, and the others are stored nowhere. Where as many or more are taken it is left, nothing
// would be computed less; but not one array with numbers around it, nor what takes less to compute
// again for each window that it is in than to store and read.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/PatternMatch.h"
#include "passes/graph/Indices.h"
#include "passes/graph/Sources.h"
#include "passes/graph/StoredOperands.h"
#include "target/tuning/ComputedOperands.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace tile::graph;

namespace {
/// A dimension of an array at its own places: its size, and where it lies, counted from the last.
struct Line {
  Size size;
  size_t fromEnd;
};
} // namespace

static std::optional<Line> lineOf(Value index) {
  auto view = index.getDefiningOp<RearrangeOp>();
  auto line = (view ? view.getSrc() : index).getDefiningOp<IndexOp>();
  if (!line)
    return std::nullopt;
  Size size = typeOf(line.getResult()).sizes()[0];
  if (!view)
    return Line{size, 1};
  for (auto [i, dim] : llvm::enumerate(view.getDims()))
    if (dim == 0)
      return Line{size, view.getDims().size() - i};
  return std::nullopt;
}

namespace {
class Taker {
public:
  Taker(OpBuilder &b, GatherOp op) : b(b), op(op), indices(b, op.getLoc()) {}
  /// Elements of a value: an index for each of its dimensions, null along one of size 1.
  Value take(Value value, ArrayRef<Value> at);
  /// Those of an operand that broadcasts to `result`, whose dimensions `at` is of.
  Value takeOperand(Value operand, Value result, ArrayRef<Value> at);
  /// What tells whether all indices are inside, and 0 where they are not.
  Value onlyInside(Value value);

private:
  Value takeOfArray(Value value, ArrayRef<Value> at);
  Value whole(Value value, ArrayRef<Value> at);

  OpBuilder &b;
  GatherOp op;
  IndexBuilder indices;
  std::map<std::pair<void *, std::vector<void *>>, Value> taken;
};
} // namespace

/// The value itself, in the order of dimensions that its indices are in; null if they are others.
Value Taker::whole(Value value, ArrayRef<Value> at) {
  SmallVector<int64_t> dims;
  for (auto [dim, index] : llvm::enumerate(at)) {
    if (!index)
      continue;
    std::optional<Line> line = lineOf(index);
    if (!line || line->size != typeOf(value).sizes()[dim])
      return {};
    if (line->fromEnd > dims.size())
      dims.insert(dims.begin(), line->fromEnd - dims.size(), -1);
    int64_t &place = dims[dims.size() - line->fromEnd];
    if (place >= 0)
      return {}; // a diagonal
    place = int64_t(dim);
  }
  Sizes sizes;
  for (int64_t dim : dims)
    sizes.push_back(dim < 0 ? Size(1) : typeOf(value).sizes()[dim]);
  auto type = GraphTensorType::of(b.getContext(), sizes, typeOf(value).getElement());
  return RearrangeOp::create(b, op.getLoc(), type, value, dims);
}

Value Taker::takeOfArray(Value value, ArrayRef<Value> at) {
  if (Value same = whole(value, at))
    return same;
  if (value.getDefiningOp<IndexOp>()) { // the numbers from 0 on, of which each is its place
    auto type = GraphTensorType::of(b.getContext(), typeOf(at[0]).sizes(), b.getI32Type());
    return typeOf(at[0]).getElement() == b.getI32Type()
               ? at[0]
               : CastOp::create(b, op.getLoc(), type, at[0]).getResult();
  }
  SmallVector<Value> all;
  Sizes shape;
  unsigned dim;
  for (Value index : at) {
    all.push_back(index ? index : indices.number(Size(0)));
    shape = *broadcast(shape, typeOf(all.back()).sizes(), dim);
  }
  auto type = GraphTensorType::of(b.getContext(), shape, typeOf(value).getElement());
  return GatherOp::create(b, op.getLoc(), type, value, all, op.getGuarded());
}

Value Taker::takeOperand(Value operand, Value result, ArrayRef<Value> at) {
  Sizes sizes = typeOf(operand).sizes();
  size_t missing = typeOf(result).sizes().size() - sizes.size();
  SmallVector<Value> own;
  for (auto [i, size] : llvm::enumerate(sizes))
    own.push_back(size.isConstant(1) ? Value() : at[missing + i]);
  return take(operand, own);
}

Value Taker::take(Value value, ArrayRef<Value> at) {
  if (typeOf(value).sizes().empty())
    return value;
  std::vector<void *> places;
  for (Value index : at)
    places.push_back(index ? index.getAsOpaquePointer() : nullptr);
  std::pair<void *, std::vector<void *>> key{value.getAsOpaquePointer(), places};
  if (auto known = taken.find(key); known != taken.end())
    return known->second;
  Operation *source = value.getDefiningOp();
  if (auto view = dyn_cast_or_null<RearrangeOp>(source)) {
    SmallVector<Value> own(typeOf(view.getSrc()).sizes().size());
    for (auto [dim, index] : llvm::zip(view.getDims(), at))
      if (dim >= 0)
        own[dim] = index;
    return taken[key] = take(view.getSrc(), own);
  }
  if (!isa_and_nonnull<MapOp, CastOp>(source) || source->hasAttr(kStoredAttr))
    return taken[key] = takeOfArray(value, at);
  SmallVector<Value> operands;
  Sizes shape;
  unsigned dim;
  for (Value operand : source->getOperands()) {
    operands.push_back(takeOperand(operand, value, at));
    shape = *broadcast(shape, typeOf(operands.back()).sizes(), dim);
  }
  Operation *made = b.clone(*source);
  made->setOperands(operands);
  made->getResult(0).setType(
      GraphTensorType::of(b.getContext(), shape, typeOf(value).getElement()));
  return taken[key] = made->getResult(0);
}

Value Taker::onlyInside(Value value) {
  Value inside;
  auto both = [&](MapKind kind, Value x, Value y, Type element) {
    unsigned dim;
    Sizes shape = *broadcast(typeOf(x).sizes(), typeOf(y).sizes(), dim);
    auto type = GraphTensorType::of(b.getContext(), shape, element);
    return MapOp::create(b, op.getLoc(), type, kind, ValueRange{x, y}).getResult();
  };
  Type truth = b.getI1Type();
  for (auto [index, size] : llvm::zip(op.getIndices(), typeOf(op.getSrc()).sizes())) {
    std::optional<Line> line = lineOf(index);
    if (line && line->size == size)
      continue;
    for (const auto &[kind, bound] :
         {std::pair(MapKind::ge, Size(0)), std::pair(MapKind::lt, size)}) {
      Value holds = both(kind, index, indices.number(bound), truth);
      inside = inside ? both(MapKind::bit_and, inside, holds, truth) : holds;
    }
  }
  if (!inside)
    return value;
  Type element = typeOf(value).getElement();
  Attribute zero =
      isa<FloatType>(element) ? Attribute(b.getF64FloatAttr(0)) : Attribute(b.getI64IntegerAttr(0));
  Value nothing = ConstantOp::create(
      b, op.getLoc(), GraphTensorType::of(b.getContext(), {}, element), cast<TypedAttr>(zero));
  return MapOp::create(b, op.getLoc(), op.getType(), MapKind::select,
                       ValueRange{inside, value, nothing});
}

/// What every size is taken to be where it is asked which of two is larger, if none is known.
static constexpr int64_t kSomeSize = 256;

static double elementsOfSome(Value value) {
  Size size = product(typeOf(value).sizes());
  std::set<std::string> names;
  size.collectNames(names);
  Bindings some;
  for (const std::string &name : names)
    some[name] = kSomeSize;
  return double(std::max<int64_t>(size.evaluate(some).value_or(1), 1));
}

/// Whether no more elements are taken than there are, whatever the sizes.
static bool takesFew(GatherOp op) {
  Sizes left = typeOf(op.getSrc()).sizes();
  for (const Size &size : op.getType().sizes()) {
    auto *same = llvm::find(left, size);
    if (same != left.end())
      left.erase(same);
    else if (!size.isConstant(1))
      return false;
  }
  return true;
}

/// Elements of an array that are read to choose one of them: so many are one of each part of a
/// picture's border, and the picture.
static constexpr unsigned kMostReads = 9;

/// Whether a value is one array's elements where some condition of their places holds, and a number
/// or others of its elements elsewhere, as what is padded is: that takes less than to store it and
/// read it.
static bool isOneArray(Value value) {
  llvm::SmallDenseSet<Value> arrays;
  unsigned reads = 0;
  bool isLight = true;
  visitSources(value, [&](Value source) {
    Operation *op = source.getDefiningOp();
    if (auto gather = dyn_cast_or_null<GatherOp>(op)) {
      arrays.insert(gather.getSrc());
      ++reads;
      isLight &= llvm::all_of(gather.getIndices(), isOfPlaces);
      return false;
    }
    if (auto map = dyn_cast_or_null<MapOp>(op)) {
      bool isOfPlaces = typeOf(source).getElement().isInteger();
      isLight &= isOfPlaces || map.getKind() == MapKind::select;
      return true;
    }
    if (isa_and_nonnull<RearrangeOp, CastOp>(op))
      return true;
    if (!isa_and_nonnull<IndexOp, SizeOp, ConstantOp>(op)) {
      arrays.insert(source);
      ++reads;
    }
    return false;
  });
  return isLight && arrays.size() == 1 && reads <= kMostReads;
}

/// How many operations are done again for what is taken of a value.
static unsigned countMaps(Value value) {
  unsigned count = 0;
  visitSources(value, [&](Value source) {
    bool isMap = isa_and_nonnull<MapOp, CastOp>(source.getDefiningOp());
    count += isMap;
    return isMap || isa_and_nonnull<RearrangeOp, WindowOp>(source.getDefiningOp());
  });
  return count;
}

/// Whether elements of `value` are nothing but taken, and a kernel that computes each again for all
/// that take it is done before one has stored them and another has read them. What they are
/// computed of are the caller's arrays: others would be stored in its place.
static bool isSoonerComputedAgain(Value value) {
  double elements = elementsOfSome(value), taken = 0;
  for (Operation *user : value.getUsers()) {
    auto gather = dyn_cast<GatherOp>(user);
    if (!gather || gather.getSrc() != value || llvm::is_contained(gather.getIndices(), value))
      return false;
    taken += elementsOfSome(gather.getResult());
  }
  const tile::ComputedOperandTuning &tuning = tile::kComputedOperands;
  double slots = 0;
  bool isOfArrays = true;
  visitSources(value, [&](Value source) {
    if (elementsOfSome(source) < elements) // of rows, or of columns
      return false;
    Operation *op = source.getDefiningOp();
    if (auto map = dyn_cast_or_null<MapOp>(op))
      slots += slotsOf(map);
    else if (isa_and_nonnull<CastOp>(op))
      slots += tuning.slotsOfSimple;
    else if (auto gather = dyn_cast_or_null<GatherOp>(op);
             gather && isCallers(gather.getSrc()) && llvm::all_of(gather.getIndices(), isOfPlaces))
      slots += tuning.slotsToMove + tuning.slotsToGather;
    else if (isCallers(source))
      slots += tuning.slotsToMove;
    else
      isOfArrays &= isa_and_nonnull<RearrangeOp>(op);
    return isOfArrays && isa_and_nonnull<MapOp, CastOp, RearrangeOp>(op) && !isCallers(source);
  });
  double bytes = 2.0 * bytesOf(typeOf(value).getElement());
  return isOfArrays && taken / elements * slots <= bytes * tuning.slotsPerByte;
}

/// How many elements windows and indices take of a value, in whatever order of dimensions.
static double elementsTaken(Value value, double elements) {
  double taken = 0;
  for (Operation *user : value.getUsers()) {
    auto gather = dyn_cast<GatherOp>(user);
    if (auto window = dyn_cast<WindowOp>(user)) // outside of the array there is nothing
      taken += std::min(elementsOfSome(window.getResult()), elements);
    else if (gather && gather.getSrc() == value)
      taken += elementsOfSome(gather.getResult());
    else if (auto view = dyn_cast<RearrangeOp>(user))
      taken += elementsTaken(view.getResult(), elements);
  }
  return taken;
}

/// Whether what several windows show is better stored than computed again for each of them, as rows
/// are that a filter has gone through and whose columns another goes through.
static bool isSoonerStored(Value value) {
  if (isOfPlaces(value))
    return false;
  const tile::ComputedOperandTuning &tuning = tile::kComputedOperands;
  double elements = elementsOfSome(value);
  double taken = elementsTaken(value, elements);
  constexpr double kOnce = 1.5; // most elements by one of them
  if (taken <= kOnce * elements)
    return false;
  llvm::SetVector<Value> sources;
  visitSources(value, [&](Value source) {
    if (elementsOfSome(source) * 2 < elements) // of rows, or of columns
      return false;
    sources.insert(source);
    Operation *op = source.getDefiningOp();
    return isa_and_nonnull<MapOp, CastOp, RearrangeOp, WindowOp>(op) && !op->hasAttr(kStoredAttr);
  });
  // Windows of an array that others take windows of as well are there.
  auto isThere = [&](Value array) {
    return llvm::any_of(array.getUsers(), [&](Operation *user) {
      return llvm::none_of(user->getResults(), [&](Value made) { return sources.contains(made); });
    });
  };
  double slots = -tuning.slotsToMove; // which is what it takes to read it
  for (Value source : sources) {
    Operation *op = source.getDefiningOp();
    if (auto map = dyn_cast_or_null<MapOp>(op))
      slots += slotsOf(map);
    else if (isa_and_nonnull<CastOp>(op))
      slots += tuning.slotsOfSimple;
    else if (auto window = dyn_cast_or_null<WindowOp>(op))
      slots += isThere(window.getSrc()) ? 0 : tuning.slotsToMove;
    else if (!isa_and_nonnull<RearrangeOp>(op) &&
             llvm::none_of(source.getUsers(), [&](Operation *user) { return isa<WindowOp>(user); }))
      slots += isThere(source) ? 0 : tuning.slotsToMove;
  }
  double bytes = 2.0 * bytesOf(typeOf(value).getElement());
  // What is stored is a kernel more, with what else it could have been one. Judgement.
  constexpr double kWorthIt = 2;
  return taken / elements * slots > kWorthIt * bytes * tuning.slotsPerByte;
}

/// Whether elements of one array, each at a computed place, are better stored than taken again for
/// all windows that show them, as those of a picture with a border are for a filter.
static bool isSoonerStored(GatherOp op) {
  const tile::ComputedOperandTuning &tuning = tile::kComputedOperands;
  double slots = tuning.slotsToGather, elements = elementsOfSome(op.getResult());
  bool isRegular = true; // places at one distance from each other
  for (Value index : op.getIndices()) {
    bool isRead = false; // or places that windows of places have not become yet
    visitSources(index, [&](Value source) {
      Operation *op = source.getDefiningOp();
      if (auto map = dyn_cast_or_null<MapOp>(op))
        isRegular &= llvm::is_contained({MapKind::add, MapKind::sub, MapKind::mul}, map.getKind());
      isRead |=
          !isa_and_nonnull<IndexOp, SizeOp, ConstantOp, MapOp, CastOp, RearrangeOp, WindowOp>(op);
      return !isRead;
    });
    if (isRead)
      return false;
    unsigned maps = countMaps(index);
    if (!typeOf(index).sizes().empty() && !typeOf(index).sizes().back().isConstant(1))
      slots += maps * tuning.slotsOfSimple; // along rows: else there is one for many elements
  }
  double taken = elementsTaken(op.getResult(), elements);
  double bytes = 2.0 * bytesOf(op.getType().getElement());
  return !isRegular && taken / elements * slots > bytes * tuning.slotsPerByte;
}

void tile::graph::markStored(Block &block) {
  for (Operation &op : block.without_terminator()) {
    auto gather = dyn_cast<GatherOp>(op);
    if ((gather && isSoonerStored(gather)) ||
        (isa<MapOp, CastOp>(op) && isSoonerStored(op.getResult(0))))
      op.setAttr(kStoredAttr, UnitAttr::get(op.getContext()));
  }
}

/// A shape without dimensions of one in front.
static ArrayRef<Size> withoutOnes(ArrayRef<Size> sizes) {
  return sizes.drop_while([](const Size &size) { return size.isConstant(1); });
}

/// A value with dimensions of one in front, until it has the type.
static Value withOnes(OpBuilder &b, Value value, GraphTensorType type) {
  Sizes sizes = typeOf(value).sizes();
  size_t own = withoutOnes(sizes).size(), all = type.sizes().size();
  if (sizes.size() == all)
    return value;
  SmallVector<int64_t> dims(all, -1);
  for (size_t i = 0; i < own; ++i)
    dims[all - own + i] = int64_t(sizes.size() - own + i);
  return RearrangeOp::create(b, value.getLoc(), type, value, dims);
}

/// Its indices, without those along dimensions of one; nothing if they do not give its shape then,
/// but for dimensions of one in front.
static std::optional<SmallVector<Value>> placesOf(GatherOp op) {
  SmallVector<Value> at;
  Sizes shape;
  unsigned dim;
  for (auto [index, size] : llvm::zip(op.getIndices(), typeOf(op.getSrc()).sizes())) {
    at.push_back(size.isConstant(1) ? Value() : index);
    if (at.back())
      shape = *broadcast(shape, typeOf(index).sizes(), dim);
  }
  Sizes all = op.getType().sizes();
  if (withoutOnes(shape) != withoutOnes(all))
    return std::nullopt;
  return at;
}

/// Whether a caller's array is taken at other places.
static bool isCallersAtPlaces(GatherOp op) {
  return isCallers(op.getSrc()) && llvm::all_of(op.getIndices(), isOfPlaces);
}

namespace {
/// With so many operations `left` that may be done again: elements of sums of elements, and so on,
/// are as many as there are ways down to the array, and are stored instead.
struct GatherOfMap : OpRewritePattern<GatherOp> {
  GatherOfMap(MLIRContext *context, unsigned &left) : OpRewritePattern(context), left(left) {}
  unsigned &left;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    Operation *source = op.getSrc().getDefiningOp();
    if (!isa_and_nonnull<MapOp, CastOp, IndexOp>(source) || source->hasAttr(kStoredAttr) ||
        !(isOfPlaces(op.getSrc()) || isOneArray(op.getSrc()) || takesFew(op) ||
          isSoonerComputedAgain(op.getSrc())))
      return failure();
    std::optional<SmallVector<Value>> at = placesOf(op);
    unsigned count = countMaps(op.getSrc());
    if (!at || count > left)
      return failure();
    left -= count;
    Taker taker(rewriter, op);
    Value value = withOnes(rewriter, taker.take(op.getSrc(), *at), op.getType());
    rewriter.replaceOp(op, op.getGuarded() ? taker.onlyInside(value) : value);
    return success();
  }
};

/// Where all that is made of an array by indices are elements of it, those are taken from what it
/// is made of. However many they are: the array would be written and read beside. Whatever else is
/// made of it, if it is a caller's array at other places.
struct GatherOfGather : OpRewritePattern<GatherOp> {
  GatherOfGather(MLIRContext *context, unsigned &left) : OpRewritePattern(context), left(left) {}
  unsigned &left;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().getDefiningOp<GatherOp>();
    auto takes = [&](Operation *user) {
      auto gather = dyn_cast<GatherOp>(user);
      return gather && gather.getSrc() == inner.getResult() && placesOf(gather) &&
             !llvm::is_contained(gather.getIndices(), inner.getResult());
    };
    if (!inner || !takes(op) || inner->hasAttr(kStoredAttr) ||
        !(llvm::all_of(inner->getUsers(), takes) || isCallersAtPlaces(inner)))
      return failure();
    unsigned count = 0;
    for (Value index : inner.getIndices())
      count += countMaps(index);
    if (count > left)
      return failure();
    left -= count;
    Taker taker(rewriter, op);
    SmallVector<Value> places = *placesOf(op), at;
    for (Value index : inner.getIndices())
      at.push_back(taker.takeOperand(index, inner.getResult(), places));
    // Places outside of what the inner one gives may lie anywhere in its array, and beside it.
    bool guarded = inner.getGuarded() || op.getGuarded();
    Sizes shape;
    unsigned dim;
    for (Value index : at)
      shape = *broadcast(shape, typeOf(index).sizes(), dim);
    auto type = GraphTensorType::of(op.getContext(), shape, op.getType().getElement());
    auto made = GatherOp::create(rewriter, op.getLoc(), type, inner.getSrc(), at, guarded);
    if (op->hasAttr(kStoredAttr))
      made->setAttr(kStoredAttr, rewriter.getUnitAttr());
    Value value = withOnes(rewriter, made, op.getType());
    rewriter.replaceOp(op, op.getGuarded() ? taker.onlyInside(value) : value);
    return success();
  }
};
} // namespace

void tile::graph::addGatherPatterns(RewritePatternSet &patterns, unsigned &left) {
  patterns.add<GatherOfMap, GatherOfGather>(patterns.getContext(), left);
}
