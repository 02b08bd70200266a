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

void RowKernel::storeShared(Type element, bool hasRows, Value whole, Value array) {
  Form form{true, false};
  BlockEmitter shares(frame, shape, cut.rows, cut.parts);
  whole = shares.spread(whole, {hasRows, false}, form);
  Value to = make<AddPtrOp>(pointersToShared(shares, array), shares.spread(partOfRow(), {}, form));
  StoreOp::create(b, loc, to, Elements(b, loc).toMemory(whole, computeType(element)), rowMask);
}

/// All parts of the rows, as a block with as many columns.
Value RowKernel::loadShared(Type element, BlockEmitter &shares, Value array) {
  Form ofRow{true, false}, both{true, true};
  Value from = shares.spread(pointersToShared(shares, array), ofRow, both);
  Value line = shares.asColumns(frame.range(cut.parts, {}));
  from = make<AddPtrOp>(from, shares.spread(line, {false, true}, both));
  Value mask = rowMask ? shares.spread(rowMask, ofRow, both) : Value();
  return Elements(b, loc).fromMemory(make<LoadOp>(from, mask, Value()), computeType(element));
}

/// Sums that are relative to the maximum of a part become relative to that of the row.
void RowKernel::combineShared(ArrayRef<graph::ReduceOp> reductions) {
  Elements elements(b, loc);
  Form both{true, true}, ofRow{true, false};
  BlockEmitter shares(frame, shape, cut.rows, cut.parts);
  SmallVector<Value> loaded; // all are on their way before one is combined
  for (auto [reduce, array] : llvm::zip(reductions, frame.sums))
    loaded.push_back(loadShared(graph::ReduceOp(reduce).getType().getElement(), shares, array));
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

/// Where the program's part of what goes on along the row begins and ends, in the loop's turns:
/// whole chunks, beside each other.
std::pair<Value, Value> RowKernel::boundsOfPart() {
  Value columns = frame.sizeValue(product(shape.columns));
  int64_t all = cut.block * cut.parts;
  Value chunks = make<arith::DivSIOp>(make<arith::AddIOp>(columns, number(all - 1)), number(all));
  Value count = make<arith::MulIOp>(chunks, number(cut.block));
  Value from = make<arith::MulIOp>(partOfRow(), count);
  return {from, make<arith::MinSIOp>(make<arith::AddIOp>(from, count), columns)};
}

/// What the elements of the program's part combine to, of each scan.
void RowKernel::findScanned(ArrayRef<graph::ScanOp> scans) {
  Elements elements(b, loc);
  SmallVector<Value> initial;
  auto formOf = [&](graph::ScanOp scan) { return shape.forms.lookup(scan.getResult()); };
  for (graph::ScanOp scan : scans) {
    Type element = scan.getType().getElement();
    Type type = blocks.blockType(formOf(scan), Elements::computed(element));
    initial.push_back(elements.identity(type, scan.getKind(), element));
  }
  auto [from, to] = boundsOfPart();
  auto turns = scf::ForOp::create(b, loc, from, to, number(cut.block), initial);
  if (cut.stages != kDefaultStages) // chunks are on their way while one is worked on
    turns->setAttr(kNumStagesAttr, b.getI32IntegerAttr(cut.stages));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(turns.getBody());
    blocks.enterLoop(turns);
    enterColumns(startOfChunk(turns.getInductionVar()));
    SmallVector<Value> next;
    for (auto [scan, before] : llvm::zip(scans, turns.getRegionIterArgs())) {
      Form form;
      graph::ScanOp op = scan;
      Value block = blocks.get(op.getSrcMutable(), form);
      block = blocks.spread(block, form, formOf(scan));
      block = blocks.cleared(op.getKind(), op.getType().getElement(), block, formOf(scan));
      next.push_back(elements.combine(op.getKind(), op.getType().getElement(), before, block));
    }
    scf::YieldOp::create(b, loc, next);
    blocks.leaveLoop();
  }
  for (auto [i, scan] : llvm::enumerate(scans)) {
    Type element = graph::ScanOp(scan).getType().getElement();
    Value whole = blocks.reduceBlock(graph::ScanOp(scan).getKind(), element, turns.getResult(i),
                                     formOf(scan));
    storeShared(element, formOf(scan).row, whole, frame.sums[firstOfScans + i]);
  }
}

/// What the parts before the program's combine to, from which it goes on.
void RowKernel::combineScanned(ArrayRef<graph::ScanOp> scans) {
  Elements elements(b, loc);
  Form both{true, true};
  BlockEmitter shares(frame, shape, cut.rows, cut.parts);
  Value line = shares.asColumns(frame.range(cut.parts, {}));
  Value own = shares.spread(partOfRow(), {}, {false, true});
  Value isBefore =
      shares.spread(make<arith::CmpIOp>(arith::CmpIPredicate::slt, line, own), {false, true}, both);
  SmallVector<Value> loaded;
  for (auto [scan, array] : llvm::zip(scans, llvm::drop_begin(frame.sums, firstOfScans)))
    loaded.push_back(loadShared(graph::ScanOp(scan).getType().getElement(), shares, array));
  for (auto [scan, block] : llvm::zip(scans, loaded)) {
    graph::ScanOp op = scan;
    Type element = op.getType().getElement();
    Value nothing = elements.identity(block.getType(), op.getKind(), element);
    block = make<arith::SelectOp>(isBefore, block, nothing);
    bool hasRows = shape.forms.lookup(op.getResult()).row;
    scannedBefore[op] = shares.reduceBlock(op.getKind(), element, block, {hasRows, true});
  }
}

void RowKernel::runStep() {
  RowSteps steps(shape);
  loadOfRow(&steps.needed(cut.step));
  SmallVector<graph::ReduceOp> known = steps.known(cut.step), reduced = steps.reduced(cut.step);
  combineShared(known);
  firstOfOwn = known.size();
  firstOfScans = known.size() + reduced.size();
  combineScanned(steps.scannedBefore(cut.step));
  if (!reduced.empty() || !steps.stores(cut.step).empty()) {
    blocks.firstColumns = make<arith::CmpIOp>(arith::CmpIPredicate::eq, partOfRow(), number(0));
    runPass(reduced, steps.stores(cut.step));
  }
  if (SmallVector<graph::ScanOp> scans = steps.scanned(cut.step); !scans.empty())
    findScanned(scans);
  storeRows(steps.storesOfRows(cut.step));
}
