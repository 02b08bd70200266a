//===- Emit.cpp - a kernel's rows and columns as a tile function ----------===//
//
// Which rows and columns a program takes, and what it does with them: rows that fit into a block at
// once, its part of the rows in a loop. Longer rows are gone through in passes (RowPasses.cpp).
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/RowKernel.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

/// The block of columns that a program takes, where it does not take all of them; the
/// program becomes its block of rows.
Value RowKernel::splitProgram(Value &program) {
  Value block = program;
  if (!shape.parts && product(shape.rows).isConstant(1)) {
    program = number(0);
  } else {
    Value up = make<arith::AddIOp>(frame.sizeValue(product(shape.columns)), number(cut.block - 1));
    Value count = make<arith::DivSIOp>(up, number(cut.block));
    block = make<arith::RemSIOp>(program, count);
    program = make<arith::DivSIOp>(program, count);
  }
  blocks.firstColumns = make<arith::CmpIOp>(arith::CmpIPredicate::eq, block, number(0));
  return block;
}

/// Which rows are the program's, and which columns if it does not take all of them.
void RowKernel::findIndices() {
  Value program = make<ProgramIdOp>(b.getI32Type(), 0u);
  if (cut.wide)
    program = make<arith::ExtSIOp>(index, program);
  Value columnBlock;
  if (!shape.reduces && !cut.oneBlock)
    columnBlock = splitProgram(program);
  if (shape.parts)
    blocks.part = program;
  else
    enterRows(cut.rows > 1 ? make<arith::MulIOp>(program, number(cut.rows)) : program);
  if (!cut.loop)
    enterColumns(columnBlock ? make<arith::MulIOp>(columnBlock, number(cut.block)) : Value());
}

/// The block's rows begin at `start`.
void RowKernel::enterRows(Value start) {
  row = start;
  rowMask = {};
  if (cut.rows > 1) {
    row = blocks.asRows(frame.range(cut.rows, start));
    if (!cut.evenRows)
      rowMask = blocks.below(row, product(shape.rows));
  }
  blocks.setRows(row, rowMask, frame.partsOf(row, shape.rows));
}

/// The block's columns begin at `start`; null: at the first.
void RowKernel::enterColumns(Value start) {
  Value column = blocks.asColumns(frame.range(cut.block, start));
  Value mask = cut.evenColumns ? Value() : blocks.below(column, product(shape.columns));
  blocks.setColumns(column, mask, frame.partsOf(column, shape.columns));
}

PartialOp RowKernel::partialOf(unsigned store) {
  return op.getBody().front().getTerminator()->getOperand(store).getDefiningOp<PartialOp>();
}

/// Goes through the rows of the program's part.
void RowKernel::runParts() {
  Elements elements(b, loc);
  SmallVector<unsigned> kept; ///< results that the loop carries
  SmallVector<Value> initial;
  for (unsigned i = 0; i < shape.stores.size(); ++i) {
    PartialOp partial = partialOf(i);
    if (!partial)
      continue;
    Form form = shape.forms.lookup(partial.getResult());
    if (cut.loop && form.column)
      continue;
    kept.push_back(i);
    Type element = partial.getType().getElement();
    Type type = blocks.blockType({true, form.column}, Elements::computed(element));
    initial.push_back(elements.identity(type, partial.getKind(), element));
  }
  Value start = make<arith::MulIOp>(blocks.part, number(cut.rows));
  Value step = make<arith::MulIOp>(frame.sizeValue(*shape.parts), number(cut.rows));
  Value end = frame.sizeValue(product(shape.rows));
  if (cut.loop) // what lies in memory is written even if the part has no rows
    end = make<arith::MaxSIOp>(end, make<arith::AddIOp>(start, number(1)));
  auto turns = scf::ForOp::create(b, loc, start, end, step, initial);
  if (!cut.loop) // the next rows are on their way while these are worked on
    turns->setAttr(kNumStagesAttr, b.getI32IntegerAttr(tuningOf(shape.op).rowsAhead));
  SmallVector<Form> forms(kept.size());
  {
    OpBuilder::InsertionGuard guard(b);
    if (kept.empty())
      b.setInsertionPoint(turns.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(turns.getBody());
    if (cut.loop) {
      BarrierOp::create(b, loc);
      isFirst = make<arith::CmpIOp>(arith::CmpIPredicate::eq, turns.getInductionVar(), start);
      enterRows(turns.getInductionVar());
      runInPasses();
    } else {
      blocks.enterLoop(turns, /*changesRows=*/true);
      enterRows(turns.getInductionVar());
      readBeforeStores(llvm::to_vector(llvm::seq(unsigned(shape.stores.size()))));
      for (unsigned i = 0; i < shape.stores.size(); ++i)
        if (!partialOf(i))
          blocks.store(i);
    }
    SmallVector<Value> next;
    for (auto [i, store] : llvm::enumerate(kept)) {
      PartialOp partial = partialOf(store);
      Value block = blocks.partialBlock(partial, forms[i]);
      next.push_back(elements.combine(partial.getKind(), partial.getType().getElement(),
                                      turns.getRegionIterArg(i), block));
    }
    if (!kept.empty())
      scf::YieldOp::create(b, loc, next);
    blocks.leaveLoop();
  }
  for (auto [i, store] : llvm::enumerate(kept))
    blocks.storePartial(store, turns.getResult(i), forms[i]);
}

void RowKernel::readParts(JoinOp join) {
  for (OpOperand &use : join->getOpOperands()) {
    Form form;
    if (auto inner = use.get().getDefiningOp<JoinOp>())
      readParts(inner);
    else
      blocks.get(use, form);
  }
}

/// Where a result takes the place of what is read, all that becomes of the block is computed before
/// anything of it is stored: a number is read by every thread, and stored by one.
void RowKernel::readBeforeStores(ArrayRef<unsigned> stores) {
  if (!op->hasAttr(kInPlaceAttr))
    return;
  for (unsigned i : stores) {
    Value value = op.getBody().front().getTerminator()->getOperand(i);
    Form form;
    if (auto partial = value.getDefiningOp<PartialOp>())
      blocks.get(partial.getSrcMutable(), form);
    else if (auto join = value.getDefiningOp<JoinOp>())
      readParts(join);
    else
      blocks.emit(value);
  }
  BarrierOp::create(b, loc);
}

void RowKernel::storeAll() {
  readBeforeStores(llvm::to_vector(llvm::seq(unsigned(shape.stores.size()))));
  for (size_t i = 0; i < shape.stores.size(); ++i)
    blocks.store(i);
}

void RowKernel::run() {
  blocks.streams = cut.streams;
  findIndices();
  // Numbers stand in front, where every loop sees them.
  for (Operation &inner : op.getBody().front().without_terminator())
    if (isFree(&inner))
      blocks.emit(inner.getResult(0));
  if (shape.parts)
    runParts();
  else if (cut.share == Share::Step)
    runStep();
  else if (cut.loop)
    runInPasses();
  else
    storeAll();
  func::ReturnOp::create(b, loc);
}

void tile::graph::emitKernel(const KernelShape &shape, const Cut &cut, ModuleOp module) {
  if (shape.product && shape.product->chain)
    emitChain(shape, cut, module);
  else if (shape.product)
    emitProduct(shape, cut, module);
  else
    RowKernel(shape, cut, module).run();
}
