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
  if (block.getRank() != 1)
    return {};
  const LinearLayout &holders = cta::getLayout(block);
  LinearLayout spread = layout::spread(block.getShape(), vector,
                                       unsigned(holders.inSize(Dim::warp())), /*order=*/{0});
  return spread.inSize(Dim::reg()) < holders.inSize(Dim::reg())
             ? cta::LayoutAttr::get(block.getContext(), spread)
             : cta::LayoutAttr();
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
      !isMemoryEffectFree(op) ||
      !(isa<MakeRangeOp, SplatOp, arith::ConstantOp>(op) || op->hasTrait<OpTrait::Elementwise>()))
    return {};
  --left;
  auto to = RankedTensorType::get(type.getShape(), type.getElementType(), layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto value = cast<DenseElementsAttr>(constant.getValue()).reshape(to);
    return done[row] = arith::ConstantOp::create(b, op->getLoc(), to, value);
  }
  SmallVector<Value, 3> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(computedIn(b, operand, layout, left, done));
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
