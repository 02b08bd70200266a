//===- ArrayAccesses.cpp --------------------------------------------------===//
#include "passes/copies/ArrayAccesses.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/facts/PointerRoots.h"

using namespace mlir;
using namespace tile;

/// Whatever takes a pointer and is not known to pass it on or only to read there
/// may write: atomics, inline PTX, an address that becomes an integer, ...
void ArrayAccesses::note(Operation *op) {
  if (passesPointerOn(op) || isa<arith::SelectOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  // A volatile load has an effect besides, which is to keep its place.
  bool onlyReads = isa<LoadOp>(op) || (effects && effects.onlyHasEffect<MemoryEffects::Read>());
  DenseSet<Value> roots;
  for (Value operand : op->getOperands())
    if (isa<PtrType>(getElementTypeOrSelf(operand.getType())))
      collectRoots(operand, roots);
  for (Value root : roots) {
    byRoot[root].push_back(op);
    if (!onlyReads)
      writtenRoots.insert(root);
  }
}

bool ArrayAccesses::isOnly(Operation *store) {
  DenseSet<Value> roots;
  collectRoots(store->getOperand(0), roots);
  return llvm::all_of(roots, [&](Value root) {
    return llvm::all_of(byRoot.lookup(root), [&](Operation *op) {
      auto own = dyn_cast<StoreOp>(store), other = dyn_cast<StoreOp>(op);
      return op == store || (own && other && areSideBySide(own, other));
    });
  });
}

/// c with a == b * c, if there is such a constant.
static std::optional<int64_t> multiple(const Polynomial &a, const Polynomial &b) {
  if (a.terms().empty() || b.terms().empty())
    return std::nullopt;
  int64_t by = b.terms().front().coefficient, of = a.terms().front().coefficient;
  if (of % by || !(a == b * Polynomial::constant(of / by)))
    return std::nullopt;
  return of / by;
}

bool tile::isRepeated(Operation *op) {
  return op->getParentOfType<LoopLikeOpInterface>() != nullptr;
}

/// Coefficient of `loop`'s counter in `start`, of which nothing else changes in the loop.
static std::optional<int64_t> coefficientOf(const Polynomial &start, scf::ForOp loop) {
  int64_t coefficient = 0;
  for (const Polynomial::Term &term : start.terms()) {
    if (llvm::all_of(term.factors, [&](Value v) { return loop.isDefinedOutsideOfLoop(v); }))
      continue;
    if (term.factors.size() != 1 || term.factors.front() != loop.getInductionVar())
      return std::nullopt;
    coefficient += term.coefficient;
  }
  return coefficient;
}

/// Whether tiles that start `shift` further along `d` have no element in common.
static bool areApart(const TileAccess &tile, const TileAccess::Dimension &d, int64_t shift) {
  if (d.block >= 0)
    return shift >= d.extent;
  int64_t span = 1; // of a tile, in memory
  for (const TileAccess::Dimension &own : tile.dimensions) {
    std::optional<int64_t> stride = own.stride.asConstant();
    if (own.extent > 1 && (!stride || *stride < 0 || *stride > INT32_MAX))
      return false;
    span += own.extent > 1 ? (own.extent - 1) * *stride : 0;
  }
  std::optional<int64_t> stride = d.stride.asConstant();
  return stride && *stride > 0 && shift >= llvm::divideCeilSigned(span, *stride);
}

bool tile::turnsWriteApart(Operation *store, const TileAccess &tile) {
  auto loop = dyn_cast<scf::ForOp>(store->getParentOp());
  APInt step;
  if (!loop || isRepeated(loop) || !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return false;
  bool apart = false;
  for (const TileAccess::Dimension &d : tile.dimensions) {
    std::optional<int64_t> coefficient = coefficientOf(d.start, loop);
    if (!coefficient || std::abs(*coefficient) > INT32_MAX || step.getSExtValue() > INT32_MAX)
      return false;
    int64_t shift = std::abs(*coefficient) * step.getSExtValue();
    if (shift != 0 && (apart || !areApart(tile, d, shift)))
      return false;
    apart |= shift != 0;
  }
  return apart;
}

/// Whether the author has put a barrier between two operations of a block.
static bool areInOrder(Operation *first, Operation *second) {
  if (second->isBeforeInBlock(first))
    std::swap(first, second);
  return llvm::any_of(
      llvm::make_range(first->getIterator(), second->getIterator()), [](Operation &op) {
        return op.walk([](BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
      });
}

/// Whether two stores of one block of statements write neighbouring blocks of an
/// array, in any order: equal strides, and along one dimension the second starts where the
/// first has ended, or the other way round.
bool ArrayAccesses::areSideBySide(StoreOp first, StoreOp second) {
  // In a loop one of them may write next time what the other writes now.
  if (first->getBlock() != second->getBlock() || isRepeated(first) || areInOrder(first, second))
    return false;
  auto p = analysis.pointers(first.getPtr()), q = analysis.pointers(second.getPtr());
  if (!p || !q || p->offset.strides.empty() || p->base != q->base || !p->offset.wraps.empty() ||
      !q->offset.wraps.empty() || !llvm::equal(p->offset.strides, q->offset.strides))
    return false;
  Polynomial between = q->offset.start - p->offset.start;
  auto shapeOf = [](StoreOp store) {
    return cast<RankedTensorType>(store.getPtr().getType()).getShape();
  };
  for (auto [stride, own, other] :
       llvm::zip_equal(p->offset.strides, shapeOf(first), shapeOf(second)))
    if (std::optional<int64_t> distance = multiple(between, stride))
      return *distance > 0 ? *distance >= own : -*distance >= other;
  return false;
}
