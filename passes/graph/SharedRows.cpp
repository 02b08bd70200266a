//===- SharedRows.cpp - a step of rows that programs share ----------------===//
//
// Where what is found of a row lies: [rows, parts]. A program takes each part's chunks, so many
// parts apart, as they come: neighbours in memory are read at the same time.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/RowKernel.h"
#include "passes/graph/RowSteps.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

/// The program's number among those that share a row.
Value RowKernel::partOfRow() {
  Value part = make<ProgramIdOp>(b.getI32Type(), 1u);
  return cut.wide ? make<arith::ExtSIOp>(index, part) : part;
}

/// Where the row's parts begin, by form {row, false}.
Value RowKernel::pointersToShared(BlockEmitter &shares, Value array) {
  Value parts = number(cut.parts);
  if (isa<RankedTensorType>(row.getType()))
    parts = make<SplatOp>(row.getType(), parts);
  Value base = shares.spread(array, {}, {true, false});
  return make<AddPtrOp>(base, make<arith::MulIOp>(row, parts));
}

void RowKernel::storeShared(graph::ReduceOp reduce, Value whole, Value array) {
  Form form{true, false};
  BlockEmitter shares(frame, shape, cut.rows, cut.parts);
  whole = shares.spread(whole, {levels.formOfSource(reduce).row, false}, form);
  Value to = make<AddPtrOp>(pointersToShared(shares, array), shares.spread(partOfRow(), {}, form));
  Type element = computeType(reduce.getType().getElement());
  StoreOp::create(b, loc, to, Elements(b, loc).toMemory(whole, element), rowMask);
}

/// All parts of the rows, as a block with as many columns.
Value RowKernel::loadShared(graph::ReduceOp reduce, BlockEmitter &shares, Value array) {
  Form ofRow{true, false}, both{true, true};
  Value from = shares.spread(pointersToShared(shares, array), ofRow, both);
  Value line = shares.asColumns(frame.range(cut.parts, {}));
  from = make<AddPtrOp>(from, shares.spread(line, {false, true}, both));
  Value mask = rowMask ? shares.spread(rowMask, ofRow, both) : Value();
  Type element = computeType(reduce.getType().getElement());
  return Elements(b, loc).fromMemory(make<LoadOp>(from, mask, Value()), element);
}

/// Sums that are relative to the maximum of a part become relative to that of the row.
void RowKernel::combineShared(ArrayRef<graph::ReduceOp> reductions) {
  Elements elements(b, loc);
  Form both{true, true}, ofRow{true, false};
  BlockEmitter shares(frame, shape, cut.rows, cut.parts);
  SmallVector<Value> loaded; // all are on their way before one is combined
  for (auto [reduce, array] : llvm::zip(reductions, frame.sums))
    loaded.push_back(loadShared(reduce, shares, array));
  DenseMap<Operation *, Value> tops, scales;
  for (auto [reduce, block] : llvm::zip(reductions, loaded))
    tops[reduce] = block;
  for (auto [reduce, block] : llvm::zip(reductions, loaded)) {
    graph::ReduceOp sum = reduce;
    if (graph::ReduceOp maximum = levels.carriedMaximum(sum)) {
      Value &scale = scales[maximum];
      if (!scale) {
        Type element = maximum.getType().getElement();
        Value top = shares.reduceBlock(maximum, tops[maximum], both);
        Value lowest = elements.identity(top.getType(), ReduceKind::max, element);
        Value isNone = make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, top, lowest);
        top = make<arith::SelectOp>(isNone, elements.constant(top.getType(), 0), top);
        Value apart = make<arith::SubFOp>(tops[maximum], shares.spread(top, ofRow, both));
        scale = make<math::ExpOp>(apart);
      }
      block = make<arith::MulFOp>(block, scale);
    }
    blocks.know(sum.getResult(), shares.reduceBlock(sum, block, both));
  }
}

void RowKernel::runStep() {
  RowSteps steps(shape);
  loadOfRow(&steps.needed(cut.step));
  SmallVector<graph::ReduceOp> known = steps.known(cut.step);
  combineShared(known);
  firstOfOwn = known.size();
  if (steps.goesAlong(cut.step)) {
    blocks.firstColumns = make<arith::CmpIOp>(arith::CmpIPredicate::eq, partOfRow(), number(0));
    runPass(steps.reduced(cut.step), steps.stores(cut.step));
  }
  storeRows(steps.storesOfRows(cut.step));
}
