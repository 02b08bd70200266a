//===- SpreadCopies.cpp - rows copied by as many threads as can -----------===//
//
// A row that is repeated over a larger block has the layout of that: many threads hold a copy of
// each element, and one of them, which holds several elements, would copy them one after the
// other. Who copies need not be who reads: the addresses are computed anew where each thread has
// as few as can be.
//
//===----------------------------------------------------------------------===//
#include "passes/copies/SpreadCopies.h"
#include "ir/Kernel.h"
#include "ir/layout/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

cta::LayoutAttr tile::spreadLayout(RankedTensorType block, unsigned vector) {
  ArrayRef<int64_t> shape = block.getShape();
  if (llvm::count_if(shape, [](int64_t size) { return size > 1; }) != 1)
    return {};
  SmallVector<unsigned, 4> order; // the one dimension first
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    order.insert(shape[axis] > 1 ? order.begin() : order.end(), axis);
  const LinearLayout &holders = cta::getLayout(block);
  LinearLayout spread = layout::spread(shape, vector, unsigned(holders.inSize(Dim::warp())), order);
  return spread.inSize(Dim::reg()) < holders.inSize(Dim::reg())
             ? cta::LayoutAttr::get(block.getContext(), spread)
             : cta::LayoutAttr();
}

/// The layout in which `op` takes its operands to give its result in `layout`; null if that is none
/// of the operations that are computed anew.
static cta::LayoutAttr layoutOfOperands(Operation *op, cta::LayoutAttr layout) {
  if (auto expand = dyn_cast<ExpandDimsOp>(op))
    return cta::LayoutAttr::get(op->getContext(),
                                layout::sliceAxis(layout.getLayout(), expand.getAxis()));
  bool isKnown =
      isa<MakeRangeOp, SplatOp, arith::ConstantOp>(op) || op->hasTrait<OpTrait::Elementwise>();
  return isKnown ? layout : cta::LayoutAttr();
}

static Value computedIn(OpBuilder &b, Value row, cta::LayoutAttr layout, unsigned &left,
                        DenseMap<Value, Value> &done) {
  auto type = dyn_cast<RankedTensorType>(row.getType());
  if (!type)
    return row;
  if (Value known = done.lookup(row))
    return known;
  Operation *op = row.getDefiningOp();
  if (!op || left == 0 || op->getNumResults() != 1 || op->getNumRegions() ||
      !isMemoryEffectFree(op))
    return {};
  cta::LayoutAttr from = layoutOfOperands(op, layout);
  if (!from)
    return {};
  --left;
  auto to = RankedTensorType::get(type.getShape(), type.getElementType(), layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto value = cast<DenseElementsAttr>(constant.getValue()).reshape(to);
    return done[row] = arith::ConstantOp::create(b, op->getLoc(), to, value);
  }
  SmallVector<Value, 3> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(computedIn(b, operand, from, left, done));
    if (!operands.back())
      return {};
  }
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(to);
  return done[row] = copy->getResult(0);
}

Value tile::computedIn(OpBuilder &b, Value row, cta::LayoutAttr layout) {
  unsigned left = tuningOf(b.getInsertionBlock()->getParentOp()).spreadMostOperations;
  DenseMap<Value, Value> done;
  return ::computedIn(b, row, layout, left, done);
}
