//===- AccessOrder.cpp - global memory that several threads use -----------===//
#include "passes/memory/AccessOrder.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/facts/PointerRoots.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

/// How deep pointers are compared.
static constexpr unsigned kDepth = 24;

static Attribute withoutLayout(Attribute attr) {
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  return dense && dense.isSplat() ? dense.getSplatValue<Attribute>() : attr;
}

static Value withoutConversions(Value v) {
  while (auto convert = v.getDefiningOp<cta::ConvertLayoutOp>())
    v = convert.getOperand();
  return v;
}

namespace {
/// Values of two accesses.
class Comparison {
public:
  Comparison(Operation &first, bool isOfEarlierTurn)
      : first(first), isOfEarlierTurn(isOfEarlierTurn) {}

  /// Whether a value of the first access and one of the second are the same in some turns: computed
  /// alike, but for the layouts that they have, and for what a loop has handed on.
  bool isSame(Value a, Value b, unsigned depth = 0);

private:
  bool areAlike(Value a, Value b, unsigned depth);
  Value handedOn(Value b);
  bool isNextCount(Value a, Value b);

  Operation &first;
  bool isOfEarlierTurn;
  /// Pairs that are the same: what doubles at each step is compared once a step.
  DenseSet<std::pair<Value, Value>> known;
};
} // namespace

/// What a variable of a loop, as the second access sees it, was when the first one ran; null if
/// nothing is known.
Value Comparison::handedOn(Value b) {
  if (auto result = dyn_cast<OpResult>(b)) {
    auto loop = dyn_cast<scf::ForOp>(result.getOwner());
    return loop && loop->isAncestor(&first) ? loop.getYieldedValues()[result.getResultNumber()]
                                            : Value();
  }
  auto argument = cast<BlockArgument>(b);
  Operation *owner = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  bool isAround = owner && owner->isAncestor(&first);
  if (auto loop = dyn_cast_or_null<scf::ForOp>(owner)) {
    if (number == 0)
      return isAround ? Value() : loop.getLowerBound();
    if (isAround)
      return isOfEarlierTurn ? loop.getYieldedValues()[number - 1] : Value();
    return loop.getInitArgs()[number - 1];
  }
  if (auto loop = dyn_cast_or_null<scf::WhileOp>(owner)) {
    if (argument.getOwner() == loop.getAfterBody())
      return loop.getConditionOp().getArgs()[number];
    if (isAround)
      return isOfEarlierTurn ? loop.getYieldOp().getOperand(number) : Value();
    return loop.getInits()[number];
  }
  return {};
}

/// Whether `b` counts a loop's turns, and `a` is one step further: what it is a turn later.
bool Comparison::isNextCount(Value a, Value b) {
  auto argument = dyn_cast<BlockArgument>(b);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  auto sum = a.getDefiningOp<arith::AddIOp>();
  if (!isOfEarlierTurn || !loop || argument != loop.getInductionVar() || !sum ||
      sum.getLhs() != argument || !loop->isAncestor(&first))
    return false;
  APInt by, step;
  return sum.getRhs() == loop.getStep() || (matchPattern(sum.getRhs(), m_ConstantInt(&by)) &&
                                            matchPattern(loop.getStep(), m_ConstantInt(&step)) &&
                                            by.getSExtValue() == step.getSExtValue());
}

bool Comparison::areAlike(Value a, Value b, unsigned depth) {
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  auto resultOf = [](Value v) { return cast<OpResult>(v).getResultNumber(); };
  if (!x || !y || x->getName() != y->getName() || x->getNumRegions() ||
      resultOf(a) != resultOf(b) || x->getNumOperands() != y->getNumOperands())
    return false;
  for (NamedAttribute attr : x->getAttrs()) {
    Attribute other = y->getAttr(attr.getName());
    if (!other || withoutLayout(attr.getValue()) != withoutLayout(other))
      return false;
  }
  return llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()), [&](auto pair) {
    return isSame(std::get<0>(pair), std::get<1>(pair), depth + 1);
  });
}

bool Comparison::isSame(Value a, Value b, unsigned depth) {
  a = withoutConversions(a), b = withoutConversions(b);
  if (a == b || known.contains({a, b}))
    return true;
  if (depth > kDepth)
    return false;
  bool same = areAlike(a, b, depth) || isNextCount(a, b);
  if (Value before = same ? Value() : handedOn(b))
    same = isSame(a, before, depth + 1);
  if (same)
    known.insert({a, b});
  return same;
}

static Value pointersOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>([](auto access) { return access.getPtr(); })
      .Default([](Operation *) { return Value(); });
}

/// Copies of one element: one thread stores it, and all of them have loaded it.
static bool hasCopies(RankedTensorType block) {
  const layout::LinearLayout &layout = cta::getLayout(block);
  return llvm::is_contained(layout.rows(layout::Dim::warp()), 0) ||
         llvm::is_contained(layout.rows(layout::Dim::lane()), 0);
}

bool tile::meetAcrossThreads(Operation &first, Operation &second, bool isOfEarlierTurn) {
  if ((!isa<StoreOp>(first) && !isa<StoreOp>(second)) || !isa<LoadOp, StoreOp>(first) ||
      !isa<LoadOp, StoreOp>(second))
    return false;
  Value a = pointersOf(first), b = pointersOf(second);
  auto block = dyn_cast<RankedTensorType>(a.getType()),
       other = dyn_cast<RankedTensorType>(b.getType());
  if (!block != !other || (block && block.getShape() != other.getShape()))
    return false;
  bool copies = !block || hasCopies(block);
  if (block && block == other && !copies)
    return false;
  if (isa<StoreOp>(first) && isa<StoreOp>(second) && (!block || block == other))
    return false; // by the same threads
  return Comparison(first, isOfEarlierTurn).isSame(a, b);
}

static bool isAtomic(Operation &op) { return isa<AtomicRmwOp, AtomicCasOp>(op); }

bool tile::meetsAtomic(Operation &first, Operation &second) {
  Value a = pointersOf(first), b = pointersOf(second);
  if (!a || !b || isAtomic(first) == isAtomic(second))
    return false;
  auto block = dyn_cast<RankedTensorType>(a.getType());
  bool isLoad = isa<LoadOp>(first) || isa<LoadOp>(second);
  if (a.getType() == b.getType() && (block ? !hasCopies(block) : !isLoad) &&
      (!block || Comparison(first, /*isOfEarlierTurn=*/false).isSame(a, b)))
    return false; // by the same threads
  llvm::DenseSet<Value> roots;
  collectRoots(a, roots);
  return comesFrom(b, roots);
}

bool tile::releasesForAll(Operation &op) {
  auto rmw = dyn_cast<AtomicRmwOp>(op);
  auto cas = dyn_cast<AtomicCasOp>(op);
  if ((!rmw && !cas) || isa<RankedTensorType>(op.getOperand(0).getType()))
    return false;
  MemSemantic sem = rmw ? rmw.getSem() : cas.getSem();
  return sem == MemSemantic::release || sem == MemSemantic::acq_rel;
}
