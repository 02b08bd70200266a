//===- ChainBounds.cpp - columns of scores that nobody sees ----------------===//
#include "passes/graph/ChainBounds.h"

using namespace mlir;
using namespace tile::graph;

namespace {

/// `row * rows + column * columns + terms + constant`
struct Linear {
  int64_t rows = 0, columns = 0, constant = 0;
  SmallVector<std::pair<OpOperand *, int64_t>, 2> terms;
  bool isFar = false; ///< a term may be any number of its type

  Linear times(int64_t by) const {
    Linear out = *this;
    out.rows *= by;
    out.columns *= by;
    out.constant *= by;
    for (auto &term : out.terms)
      term.second *= by;
    return out;
  }
  Linear plus(const Linear &other) const {
    Linear out = *this;
    out.rows += other.rows;
    out.columns += other.columns;
    out.constant += other.constant;
    llvm::append_range(out.terms, other.terms);
    out.isFar |= other.isFar;
    return out;
  }
};

class Masks {
public:
  explicit Masks(const KernelShape &scores) : scores(scores) {}
  void findMasks(Value value);
  void findMasksOfFactor(Value value);
  SmallVector<MaskComparison> found;

private:
  void findComparisons(Value condition, bool wanted);
  void addComparison(MapOp op, bool wanted);
  std::optional<Linear> linear(OpOperand &use) const;
  std::optional<Linear> linearMap(MapOp op) const;
  std::optional<Linear> uniform(OpOperand &use) const;
  std::optional<Linear> indices(IndexOp op, OpOperand &use) const;
  void addBound(MaskComparison &comparison, const Linear &notAbove) const;

  const KernelShape &scores;
};

} // namespace

/// Factors and constants stay so small that nothing overflows 64 bits.
static constexpr int64_t kMostRows = 16, kFar = int64_t(1) << 20;

/// Goes through what leaves -inf as it is.
void Masks::findMasks(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op))
    return findMasks(cast.getSrc());
  auto map = dyn_cast_or_null<MapOp>(op);
  if (!map)
    return;
  if (map.getKind() == MapKind::mul) {
    for (unsigned i : {0u, 1u})
      if (isPositive(map.getOperand(i)))
        return findMasks(map.getOperand(1 - i));
    return;
  }
  if (map.getKind() != MapKind::select)
    return;
  for (unsigned i : {1u, 2u})
    if (isLowest(map.getOperand(3 - i))) {
      findComparisons(map.getOperand(0), i == 1);
      return findMasks(map.getOperand(i));
    }
}

/// Goes through what leaves 0 as it is; a power of -inf is 0. As in a softmax, what is multiplied
/// with what nobody sees is taken to be a number.
void Masks::findMasksOfFactor(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op))
    return findMasksOfFactor(cast.getSrc());
  auto map = dyn_cast_or_null<MapOp>(op);
  if (!map)
    return;
  switch (map.getKind()) {
  case MapKind::mul:
    findMasksOfFactor(map.getOperand(0));
    return findMasksOfFactor(map.getOperand(1));
  case MapKind::div:
  case MapKind::neg:
    return findMasksOfFactor(map.getOperand(0));
  case MapKind::exp:
  case MapKind::exp2: {
    Value power = unrounded(map.getOperand(0));
    auto apart = power.getDefiningOp<MapOp>();
    bool isRelative = apart && apart.getKind() == MapKind::sub;
    return findMasks(isRelative ? apart.getOperand(0) : power);
  }
  case MapKind::select:
    for (unsigned i : {1u, 2u})
      if (isZero(map.getOperand(3 - i))) {
        findComparisons(map.getOperand(0), i == 1);
        return findMasksOfFactor(map.getOperand(i));
      }
    return;
  default:
    return;
  }
}

void Masks::findComparisons(Value condition, bool wanted) {
  Operation *op = condition.getDefiningOp();
  if (auto view = dyn_cast_or_null<RearrangeOp>(op))
    return findComparisons(view.getSrc(), wanted);
  auto map = dyn_cast_or_null<MapOp>(op);
  if (!map || !map.getType().getElement().isInteger(1))
    return;
  switch (map.getKind()) {
  case MapKind::bit_and:
  case MapKind::bit_or:
    if ((map.getKind() == MapKind::bit_and) == wanted)
      for (Value operand : map.getOperands())
        findComparisons(operand, wanted);
    return;
  case MapKind::logical_not:
  case MapKind::invert:
    return findComparisons(map.getOperand(0), !wanted);
  case MapKind::eq:
  case MapKind::lt:
  case MapKind::le:
  case MapKind::gt:
  case MapKind::ge:
    return addComparison(map, wanted);
  default:
    return;
  }
}

/// x < y, not: y <= x
static MapKind opposite(MapKind kind) {
  switch (kind) {
  case MapKind::lt:
    return MapKind::ge;
  case MapKind::le:
    return MapKind::gt;
  case MapKind::gt:
    return MapKind::le;
  case MapKind::ge:
    return MapKind::lt;
  default:
    return MapKind::ne;
  }
}

void Masks::addComparison(MapOp op, bool wanted) {
  MaskComparison comparison{op.getResult(), wanted, {}};
  MapKind kind = wanted ? op.getKind() : opposite(op.getKind());
  OpOperand *sides[] = {&op->getOpOperand(0), &op->getOpOperand(1)};
  if (kind == MapKind::gt || kind == MapKind::ge) {
    std::swap(sides[0], sides[1]);
    kind = kind == MapKind::gt ? MapKind::lt : MapKind::le;
  }
  // Of |x| < y both x < y and -x < y.
  auto absolute = sides[0]->get().getDefiningOp<MapOp>();
  bool isTwice = absolute && absolute.getKind() == MapKind::abs && kind != MapKind::eq;
  std::optional<Linear> x = linear(isTwice ? absolute->getOpOperand(0) : *sides[0]);
  std::optional<Linear> y = linear(*sides[1]);
  if (!x || !y || kind == MapKind::ne)
    return;
  Linear less = y->times(-1);
  less.constant += kind == MapKind::lt;
  addBound(comparison, x->plus(less));
  if (isTwice)
    addBound(comparison, x->times(-1).plus(less));
  if (kind == MapKind::eq)
    addBound(comparison, x->times(-1).plus(*y));
  if (!comparison.bounds.empty())
    found.push_back(std::move(comparison));
}

/// Of `notAbove <= 0`, if columns count once.
void Masks::addBound(MaskComparison &comparison, const Linear &notAbove) const {
  bool isUpper = notAbove.columns == 1;
  if (!isUpper && notAbove.columns != -1)
    return;
  Linear rest = notAbove.times(isUpper ? -1 : 1);
  if (std::abs(rest.rows) > kMostRows || std::abs(rest.constant) > kFar)
    return;
  comparison.bounds.push_back({isUpper, rest.rows, rest.constant, rest.terms});
}

std::optional<Linear> Masks::indices(IndexOp op, OpOperand &use) const {
  auto access = scores.indices.find(op.getResult());
  if (access == scores.indices.end())
    return std::nullopt;
  const Access &of = access->second;
  if (!of.hasRow && !of.hasColumn)
    return uniform(use); // which of the products
  Linear out;
  out.rows = of.hasRow;
  out.columns = of.hasColumn;
  return out;
}

std::optional<Linear> Masks::uniform(OpOperand &use) const {
  KernelShape::Form form = scores.forms.lookup(use.get());
  if (auto load = scores.loadOf.find(&use); load != scores.loadOf.end())
    form = {scores.loads[load->second].hasRow, scores.loads[load->second].hasColumn};
  if (form.row || form.column)
    return std::nullopt;
  Linear out;
  out.terms.push_back({&use, 1});
  out.isFar = !use.get().getDefiningOp<SizeOp>();
  return out;
}

std::optional<Linear> Masks::linearMap(MapOp op) const {
  MapKind kind = op.getKind();
  if (kind != MapKind::add && kind != MapKind::sub && kind != MapKind::neg)
    return std::nullopt;
  std::optional<Linear> x = linear(op->getOpOperand(0));
  if (!x)
    return x;
  Linear out = *x;
  if (kind == MapKind::neg) {
    out = out.times(-1);
  } else {
    std::optional<Linear> y = linear(op->getOpOperand(1));
    if (!y)
      return y;
    out = out.plus(kind == MapKind::add ? *y : y->times(-1));
  }
  // What wraps around in its type is no such sum.
  bool isWide = op.getType().getElement().getIntOrFloatBitWidth() >= 64;
  if (out.isFar || (!isWide && std::abs(out.constant) > kFar))
    return std::nullopt;
  return out;
}

std::optional<Linear> Masks::linear(OpOperand &use) const {
  Type element = cast<GraphTensorType>(use.get().getType()).getElement();
  if (!element.isSignlessInteger() || element.getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  Operation *op = use.get().getDefiningOp();
  if (auto index = dyn_cast_or_null<IndexOp>(op))
    return indices(index, use);
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    if (auto whole = dyn_cast<IntegerAttr>(constant.getValue())) {
      Linear out;
      out.constant = whole.getInt();
      return whole.getValue().abs().ugt(kFar) ? std::nullopt : std::optional(out);
    }
  if (isa_and_nonnull<RearrangeOp>(op))
    return linear(op->getOpOperand(0));
  if (auto map = dyn_cast_or_null<MapOp>(op))
    if (std::optional<Linear> found = linearMap(map))
      return found;
  return uniform(use);
}

SmallVector<MaskComparison> tile::graph::comparisonsOf(const KernelShape &scores, Value value) {
  Masks masks(scores);
  masks.findMasks(value);
  return std::move(masks.found);
}

SmallVector<MaskComparison> tile::graph::comparisonsOfFactor(const KernelShape &scores,
                                                             Value value) {
  Masks masks(scores);
  masks.findMasksOfFactor(value);
  return std::move(masks.found);
}
