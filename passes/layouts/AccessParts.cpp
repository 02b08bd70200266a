//===- AccessParts.cpp - accesses that need share no layout ----------------===//
//
// A part of LayoutInference.
//
// Accesses to blocks of one shape share a layout so that nothing moves between them, and its
// vectors are those of the widest elements. But where a product's operands are loaded narrow beside
// a wide one, or each block goes to where a product has its sums, everything moves anyway. What the
// homes of a walk show: values that users take as they lie belong together, and so do those that
// one operation takes and gives; what moves between two values holds neither. Accesses that belong
// together to nobody with wider elements get the layout that they want, and another walk.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/layouts/Homes.h"
#include "passes/layouts/LayoutInference.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// Widening casts are cheaper to repeat than their results are to move.
static bool isWidening(Operation *op) {
  if (auto cast = dyn_cast<FpCastOp>(op))
    return getElementBytes(getElementType(cast.getType())) >
           getElementBytes(getElementType(cast.getSrc().getType()));
  return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op);
}

bool tile::isWideningRenamed(Operation *op) {
  while (op && isa<TransOp, ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && isWidening(op);
}

cta::LayoutAttr LayoutInference::layoutOfOperand(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<DotOp, cta::WarpgroupDotOp>(op))
    return dotLayout(op, operand.getOperandNumber());
  if (cta::LayoutAttr layout = operandLayout(op))
    return layout;
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1)
    return natural(op->getResult(0));
  return homeOr(operand.get());
}

namespace {
class AccessParts {
public:
  AccessParts(func::FuncOp func, LayoutInference &layouts, Coalescing &coalescing);

  /// Of all accesses, reductions and scans, of what moves and of what is computed again: each to
  /// each layout once.
  double cycles() const { return cost.total(coalescing.numWarps()); }
  /// Gives accesses the layouts of their parts, and says which have got one.
  SmallVector<Operation *> setAnchors() const;

private:
  void visit(Operation *op);
  void visitControlFlow(Operation *op);
  void pass(ValueRange from, ValueRange to);
  void take(Value value, cta::LayoutAttr asked, const void *by, unsigned run = 1);
  void tie(const void *name, Value value) { ties.unionSets(name, nameOf(value)); }
  static const void *nameOf(Value value) { return value.getAsOpaquePointer(); }

  LayoutInference &layouts;
  Coalescing &coalescing;
  const Target &target;
  SmallVector<Operation *> accesses;
  llvm::EquivalenceClasses<const void *> ties; ///< of operations and values
  llvm::DenseSet<std::pair<Value, Attribute>> counted;
  lowering::Cost cost;
};
} // namespace

AccessParts::AccessParts(func::FuncOp func, LayoutInference &layouts, Coalescing &coalescing)
    : layouts(layouts), coalescing(coalescing), target(targetOf(func)) {
  func.walk([&](Operation *op) {
    if (!layouts.isDeferred(op))
      visit(op);
  });
}

void AccessParts::visit(Operation *op) {
  if (isa<scf::SCFDialect>(op->getDialect()))
    return visitControlFlow(op);
  unsigned run = 1;
  if (cta::LayoutAttr works = layouts.operandLayout(op)) {
    const layout::LinearLayout &l = works.getLayout();
    if (auto reduce = dyn_cast<ReduceOp>(op))
      cost += costOfReducing(reduce, l);
    else if (auto scan = dyn_cast<ScanOp>(op))
      cost += lowering::scanCost(scan, l);
    else if (isa<LoadOp, StoreOp, AtomicRmwOp>(op)) {
      cost += coalescing.cost(op, l);
      run = coalescing.vectorFor(op, l);
      accesses.push_back(op);
    }
  }
  ties.insert(op);
  for (OpOperand &operand : op->getOpOperands())
    if (blockType(operand.get()))
      take(operand.get(), layouts.layoutOfOperand(operand), op, run);
  for (Value result : op->getResults())
    if (blockType(result))
      tie(op, result);
}

/// `value` where `by` wants it, one for each `run` of elements: what is computed there again passes
/// that on.
void AccessParts::take(Value value, cta::LayoutAttr asked, const void *by, unsigned run) {
  Operation *def = value.getDefiningOp();
  bool isComputedAgain = def && layouts.isDeferred(def);
  if (!isComputedAgain && layouts.natural(value) == asked)
    return tie(by, value);
  bool isNew = counted.insert({value, asked}).second;
  if (!isComputedAgain && !isWideningRenamed(def)) {
    if (isNew)
      cost += lowering::convertCost(layouts.natural(value).getLayout(), asked.getLayout(),
                                    getElementType(value.getType()), target);
    return;
  }
  if (isNew && isElementwise(def) && def->getNumOperands() > 0)
    cost.instructions += double(asked.getLayout().inSize(layout::Dim::reg())) / run;
  for (Value operand : def->getOperands())
    if (blockType(operand))
      take(operand,
           cta::LayoutAttr::get(def->getContext(), operandLayoutFor(def, asked.getLayout())), by,
           run);
}

/// Each value arrives where its target lives.
void AccessParts::pass(ValueRange from, ValueRange to) {
  for (auto [value, target] : llvm::zip_equal(from, to))
    if (blockType(value) && layouts.natural(target))
      take(value, layouts.natural(target), nameOf(target));
}

void AccessParts::visitControlFlow(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    pass(loop.getInitArgs(), loop.getRegionIterArgs());
    pass(loop.getYieldedValues(), loop.getRegionIterArgs());
    pass(loop.getRegionIterArgs(), loop.getResults());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() == 0)
      return;
    pass(branch.thenYield().getOperands(), branch.getResults());
    pass(branch.elseYield().getOperands(), branch.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    pass(loop.getInits(), loop.getBeforeArguments());
    pass(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    pass(loop.getYieldOp()->getOperands(), loop.getBeforeArguments());
    pass(loop.getAfterArguments(), loop.getResults());
  }
}

SmallVector<Operation *> AccessParts::setAnchors() const {
  llvm::MapVector<std::pair<const void *, Attribute>, SmallVector<Operation *>> parts;
  for (Operation *op : accesses)
    if (cta::LayoutAttr anchor = coalescing.anchor(op);
        coalescing.sharesLayout(op) && layouts.operandLayout(op) == anchor)
      parts[{ties.getLeaderValue(op), anchor}].push_back(op);
  SmallVector<Operation *> out;
  for (auto &[name, part] : parts)
    if (cta::LayoutAttr layout = coalescing.layoutOfPart(part)) {
      for (Operation *op : part)
        coalescing.setAnchor(op, layout);
      out.append(part);
    }
  return out;
}

void LayoutInference::partAccesses(func::FuncOp func) {
  AccessParts before(func, *this, coalescing);
  SmallVector<Operation *> parted = before.setAnchors();
  if (parted.empty())
    return;
  auto kept = std::tuple(homes, works, dots, accumulators, ownLayouts, deferred);
  forget();
  inferAll(func);
  if (AccessParts(func, *this, coalescing).cycles() < before.cycles())
    return;
  // What followed the accesses without being tied to them did not come along, say, or what needs no
  // memory takes more than is saved.
  for (Operation *op : parted)
    coalescing.setAnchor(op, {});
  std::tie(homes, works, dots, accumulators, ownLayouts, deferred) = std::move(kept);
}
