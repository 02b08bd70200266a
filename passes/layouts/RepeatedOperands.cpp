//===- RepeatedOperands.cpp - what is loaded and computed for rows and columns ---===//
//
// A part of Coalescing: blocks that are repeated to larger ones, as weights of columns and indices
// of rows are, are loaded and computed by each thread for the rows and columns that it has.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/facts/Distances.h"
#include "passes/facts/Reach.h"
#include "passes/layouts/Coalesce.h"
#include "passes/layouts/Homes.h"
#include "passes/layouts/ProductCycles.h"
#include "target/Tuning.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

/// Loads that `v` is computed from.
static void findLoads(Value v, unsigned depth, llvm::SmallPtrSetImpl<Operation *> &loads) {
  Operation *def = v.getDefiningOp();
  if (isa_and_nonnull<LoadOp>(def)) {
    loads.insert(def);
  } else if (def && depth > 0 && (isElementwise(def) || isa<ExpandDimsOp>(def))) {
    for (Value operand : def->getOperands())
      findLoads(operand, depth - 1, loads);
  }
}

void Coalescing::addRepeated(BroadcastOp op, AxisInfoAnalysis &axes) {
  llvm::SmallPtrSet<Operation *, 4> near, loads;
  findLoads(op.getSrc(), reach::kOperands, near);
  findLoads(op.getSrc(), reach::kUsers, loads);
  SmallVector<int64_t, 4> operand(op.getSrc().getType().getShape());
  SmallVector<int64_t, 4> result(op.getType().getShape());
  for (Operation *load : loads)
    repeated.push_back({load, operand, result, near.contains(load)});
  auto *entry = llvm::find_if(
      computed, [&](const Computed &c) { return c.operand == operand && c.result == result; });
  if (entry == computed.end()) {
    computed.push_back({operand, result, 0, {}});
    entry = &computed.back();
  }
  addComputed(op.getSrc(), *entry, axes);
}

/// Whether neighbours of `v` are constant distances apart: a thread computes one of them, and the
/// accesses that it is an index of add the rest.
static bool needsOneIndex(Value v, AxisInfoAnalysis &axes) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type)
    return true;
  for (unsigned axis = 0; axis < type.getRank(); ++axis)
    if (type.getDimSize(axis) > 1 && !isConstantDistance(v, axis, axes))
      return false;
  return true;
}

/// What the operations that `v` comes from take for each element, the turns of loops with them.
void Coalescing::addComputed(Value v, Computed &entry, AxisInfoAnalysis &axes) {
  SmallVector<Value> work{v};
  while (!work.empty() && entry.seen.size() < reach::kComputed) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !(isElementwise(op) || isa<ExpandDimsOp>(op)) || !entry.seen.insert(op).second)
      continue;
    llvm::append_range(work, op->getOperands());
    bool isLong = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
    if (!isa<ExpandDimsOp>(op) && !needsOneIndex(op->getResult(0), axes))
      entry.instructions += turnsAround(op, tuning) * (isLong ? tuning.longOpSlots : 1);
  }
}

unsigned Coalescing::numRepeatedLoads(ArrayRef<int64_t> shape, const LinearLayout &l,
                                      bool onlyNear) const {
  unsigned loads = 0;
  for (const Repeated &r : repeated)
    if (ArrayRef(r.result) == shape && (r.isNear || !onlyNear))
      loads += layout::broadcastOperand(l, r.operand).inSize(Dim::reg());
  return loads;
}

double Coalescing::cyclesOfRepeated(ArrayRef<int64_t> shape, const LinearLayout &l) const {
  auto registers = [&](ArrayRef<int64_t> operand) {
    return double(layout::broadcastOperand(l, operand).inSize(Dim::reg()));
  };
  lowering::Cost cost;
  for (const Repeated &r : repeated)
    if (double loads = turnsAround(r.load, tuning); r.isNear && ArrayRef(r.result) == shape)
      cost += {loads * registers(r.operand), loads * registers(r.operand), 0};
  for (const Computed &c : computed)
    if (ArrayRef(c.result) == shape)
      cost += {c.instructions * registers(c.operand), 0, 0};
  return cost.total(warps);
}

/// Whether loops load what is repeated to blocks of this shape, and none of them reduces or scans
/// such a block.
bool Coalescing::loadsMoreOftenThanItCombines(ArrayRef<int64_t> shape) const {
  auto isOfShape = [&](const Repeated &r) { return ArrayRef(r.result) == shape; };
  auto *entry = llvm::find_if(combined, [&](auto &c) { return ArrayRef(c.shape) == shape; });
  return entry != combined.end() && llvm::any_of(repeated, isOfShape) &&
         llvm::all_of(repeated, [&](const Repeated &r) {
           auto loop = r.load->getParentOfType<LoopLikeOpInterface>();
           return !isOfShape(r) || (loop && llvm::none_of(entry->ops, [&](Operation *op) {
                                      return loop->isProperAncestor(op);
                                    }));
         });
}
