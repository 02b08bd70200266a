//===- ChainFacts.cpp - what lies between products -------------------------===//
#include "passes/graph/Chain.h"
#include "passes/graph/Sources.h"
#include "passes/graph/Space.h"
#include <cmath>

using namespace mlir;
using namespace tile::graph;

using Ops = SmallVector<Operation *>;

bool tile::graph::isOfIndices(Operation *op) {
  if (isa<IndexOp>(op))
    return true;
  if (!isa<MapOp, CastOp, RearrangeOp>(op))
    return false;
  bool some = false;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    bool isNumber = source ? isFree(source) : typeOf(operand).sizes().empty(); // or the call's
    if (!isNumber && (!source || !isOfIndices(source)))
      return false;
    some |= !isNumber;
  }
  return some;
}

/// Whether a value is computed of numbers that are known, or are sizes, by no more than a few
/// operations: the place of the only element that is taken along a dimension.
static bool isOfNumbers(Operation *op, unsigned depth = 0) {
  constexpr unsigned kDeep = 4;
  return isa<MapOp, CastOp, RearrangeOp>(op) && depth < kDeep &&
         llvm::all_of(
             op->getOperands(),
             [&](Value operand) {
               Operation *source = operand.getDefiningOp();
               return source && (isFree(source) || isOfNumbers(source, depth + 1));
             });
}

void tile::graph::separateViews(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block.without_terminator()))) {
    if (!isOfIndices(&op) && !isOfNumbers(&op) && !isa<RearrangeOp>(op))
      continue;
    while (!op.hasOneUse() && !op.use_empty()) {
      OpBuilder b(&op);
      op.use_begin()->set(b.clone(op)->getResult(0));
    }
  }
}

static std::optional<double> numberOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
    return real.getValueAsDouble();
  return double(cast<IntegerAttr>(constant.getValue()).getInt());
}

bool tile::graph::isPositive(Value value) {
  if (std::optional<double> number = numberOf(value))
    return *number > 0 && std::isfinite(*number);
  Operation *op = value.getDefiningOp();
  if (auto size = dyn_cast_or_null<SizeOp>(op)) {
    std::string error;
    return Size::parse(size.getSize(), error)->isNeverNegative(); // of something
  }
  if (isa_and_nonnull<CastOp, RearrangeOp>(op))
    return isa<FloatType>(typeOf(value).getElement()) && isPositive(op->getOperand(0));
  auto map = dyn_cast_or_null<MapOp>(op);
  if (!map)
    return false;
  switch (map.getKind()) {
  case MapKind::sqrt:
  case MapKind::rsqrt:
  case MapKind::reciprocal:
  case MapKind::mul:
  case MapKind::div:
  case MapKind::add:
    return llvm::all_of(map.getOperands(), isPositive);
  case MapKind::pow:
    return isPositive(map.getOperand(0));
  default:
    return false;
  }
}

bool tile::graph::isLowest(Value value) {
  std::optional<double> number = numberOf(value);
  return number && *number == -INFINITY;
}

Value tile::graph::unrounded(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    if (!isa<FloatType>(cast.getType().getElement()) ||
        !isa<FloatType>(cast.getSrc().getType().getElement()))
      break;
    value = cast.getSrc();
  }
  return value;
}

/// What the columns of a row have in common: a value without the views of it.
static Value unviewed(Value value) {
  value = unrounded(value);
  while (auto view = value.getDefiningOp<RearrangeOp>())
    value = unrounded(view.getSrc());
  return value;
}

/// The one product that a value is computed of element by element; null if there is none.
static MatmulOp productOf(Value value) {
  llvm::SmallPtrSet<Operation *, 2> products;
  visitSources(value, [&](Value source) {
    Operation *op = source.getDefiningOp();
    if (isa_and_nonnull<MatmulOp>(op))
      products.insert(op);
    return isa_and_nonnull<MapOp, CastOp, RearrangeOp>(op);
  });
  return products.size() == 1 ? cast<MatmulOp>(*products.begin()) : MatmulOp();
}

llvm::SmallPtrSet<Operation *, 16> tile::graph::usersOf(Value value) {
  llvm::SmallPtrSet<Operation *, 16> users;
  SmallVector<Value> work = {value};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers())
      if (users.insert(user).second)
        llvm::append_range(work, user->getResults());
  return users;
}

static bool alongRows(ReduceOp op) {
  int64_t rank = op.getSrc().getType().sizes().size();
  return op.getAxes() == ArrayRef<int64_t>{rank - 1};
}

std::optional<Chain> tile::graph::softmaxOf(Value value) {
  Chain chain;
  chain.power = unrounded(value).getDefiningOp<MapOp>();
  if (!chain.power ||
      (chain.power.getKind() != MapKind::exp && chain.power.getKind() != MapKind::exp2))
    return std::nullopt;
  auto apart = unrounded(chain.power.getOperand(0)).getDefiningOp<MapOp>();
  if (!apart || apart.getKind() != MapKind::sub)
    return std::nullopt;
  chain.scores = unrounded(apart.getOperand(0));
  chain.maximum = unviewed(apart.getOperand(1)).getDefiningOp<ReduceOp>();
  if (!chain.maximum || chain.maximum.getKind() != ReduceKind::max || !alongRows(chain.maximum) ||
      unrounded(chain.maximum.getSrc()) != chain.scores)
    return std::nullopt;
  MatmulOp first = productOf(chain.scores);
  chain.firsts = {first};
  if (!first || !computeType(typeOf(chain.scores).getElement()).isF32())
    return std::nullopt;
  for (Operation *user : chain.power->getUsers())
    if (auto sum = dyn_cast<ReduceOp>(user); sum && sum.getKind() == ReduceKind::sum)
      if (alongRows(sum))
        chain.sums.push_back(sum);
  return chain;
}

bool tile::graph::isZero(Value value) { return numberOf(value) == 0.0; }

OpOperand *tile::graph::maskedOf(Value value) {
  auto map = value.getDefiningOp<MapOp>();
  if (!map)
    return nullptr;
  for (unsigned i : {1u, 2u})
    if (map.getKind() == MapKind::select && isZero(map.getOperand(3 - i)))
      return &map->getOpOperand(i);
  return nullptr;
}

std::optional<Chain> tile::graph::findChain(MatmulOp second) {
  Value powers = unrounded(second.getLhs());
  while (OpOperand *inner = maskedOf(powers))
    powers = unrounded(inner->get());
  std::optional<Chain> chain = softmaxOf(powers);
  if (!chain)
    return second->hasAttr(kChainedAttr) ? plainChainOf(second) : std::nullopt;
  chain->second = second;
  return chain;
}

Ops tile::graph::operationsOf(const Chain &chain) {
  llvm::SmallPtrSet<Operation *, 16> behind, inside;
  for (MatmulOp first : chain.firsts) {
    auto users = usersOf(first->getResult(0));
    behind.insert(users.begin(), users.end());
    inside.insert(first);
  }
  SmallVector<Operation *> work = {chain.second};
  llvm::append_range(work, chain.sums);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!(behind.contains(op) || isOfIndices(op)) || !inside.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && !isFree(source))
        work.push_back(source);
  }
  Ops ops(inside.begin(), inside.end());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}
