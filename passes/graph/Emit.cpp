//===- Emit.cpp - a kernel's rows and columns as a tile function ----------===//
//
// A program takes `cut.rows` rows. Rows that fit into a block are loaded once, all that is
// computed from them stays where it is, and results are stored at the end. Longer rows are
// gone through in a loop for each reduction that needs the result of another, and once
// more for what is stored; a sum of powers needs none of its own behind the maximum that
// they are relative to. Where something is combined along rows, a program goes through
// its part of them in a loop, and keeps what it has combined: in registers, or, if rows do
// not fit there, where its part of the result lies.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/BlockEmitter.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/RowLevels.h"
#include "passes/graph/Sources.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

namespace {

class RowKernel {
public:
  RowKernel(const KernelShape &shape, const Cut &cut, ModuleOp module)
      : shape(shape), op(shape.op), cut(cut), frame(shape, cut, module),
        blocks(frame, shape, cut.rows, cut.block), b(frame.b), loc(frame.loc), index(frame.index),
        levels(shape) {}
  void run();

private:
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  Value number(int64_t value) { return frame.number(index, value); }
  Value splitProgram(Value &program);
  void findIndices();
  void enterRows(Value start);
  void enterColumns(Value start);
  SmallVector<graph::ScanOp> scansOf(ArrayRef<graph::ReduceOp> reductions,
                                     ArrayRef<unsigned> stores);
  bool vanishesOutside(graph::ReduceOp sum, graph::ReduceOp maximum) const;
  void loadOfRow();
  void runInPasses();
  /// One pass over the columns: what it reduces and stores, and what its loop carries for that.
  struct Pass {
    ArrayRef<graph::ReduceOp> reductions;
    ArrayRef<unsigned> stores;
    SmallVector<graph::ScanOp> scans;
    /// Of a maximum that sums are relative to, each turn needs the number.
    DenseMap<Operation *, SmallVector<size_t>> sumsOf;
  };
  void runPass(ArrayRef<graph::ReduceOp> reductions, ArrayRef<unsigned> stores);
  SmallVector<Value> initialOf(const Pass &pass);
  void runTurn(const Pass &pass, scf::ForOp turns);
  void reduceTurn(const Pass &pass, scf::ForOp turns, SmallVectorImpl<Value> &next);
  Value startOfChunk(Value turn);
  Value carryMaximum(graph::ReduceOp maximum, Value before, Value &scale);
  void runParts();
  void storeAll();
  PartialOp partialOf(unsigned store);

  const KernelShape &shape;
  KernelOp op;
  const Cut &cut;
  KernelFrame frame;
  BlockEmitter blocks;
  OpBuilder &b;
  Location loc;
  Type index;
  RowLevels levels;
  Value isFirst; ///< i1: of the rows of the program's part, in a loop over them
};

} // namespace

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

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
  Value row = start, mask;
  if (cut.rows > 1) {
    row = blocks.asRows(frame.range(cut.rows, start));
    if (!cut.evenRows)
      mask = blocks.below(row, product(shape.rows));
  }
  blocks.setRows(row, mask, frame.partsOf(row, shape.rows));
}

/// The block's columns begin at `start`; null: at the first.
void RowKernel::enterColumns(Value start) {
  Value column = blocks.asColumns(frame.range(cut.block, start));
  Value mask = cut.evenColumns ? Value() : blocks.below(column, product(shape.columns));
  blocks.setColumns(column, mask, frame.partsOf(column, shape.columns));
}

//===----------------------------------------------------------------------===//
// Rows at once, or in passes
//===----------------------------------------------------------------------===//

PartialOp RowKernel::partialOf(unsigned store) {
  return op.getBody().front().getTerminator()->getOperand(store).getDefiningOp<PartialOp>();
}

/// Adds a block to a maximum that the loop carries. What is computed from it in the loop is
/// relative to the maximum so far, or to 0 if that is no number to subtract; `scale` is
/// what was computed before times that.
Value RowKernel::carryMaximum(graph::ReduceOp maximum, Value before, Value &scale) {
  Elements elements(b, loc);
  Type element = maximum.getType().getElement();
  Form form;
  Value block = blocks.get(maximum.getSrcMutable(), form);
  Value own = blocks.reduceBlock(maximum, blocks.cleared(maximum, block, form), form);
  Value now = elements.combine(ReduceKind::max, element, before, own);
  Value lowest = elements.identity(now.getType(), ReduceKind::max, element);
  Value isNone = make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, now, lowest);
  Value zero = elements.constant(now.getType(), 0);
  Value from = make<arith::SelectOp>(isNone, zero, now);
  scale = make<math::ExpOp>(make<arith::SubFOp>(before, from));
  blocks.knowInLoop(maximum.getResult(), from, levels.usersOf(maximum.getResult()));
  return now;
}

/// The scans that a pass needs, whose sums so far it carries from chunk to chunk.
SmallVector<graph::ScanOp> RowKernel::scansOf(ArrayRef<graph::ReduceOp> reductions,
                                              ArrayRef<unsigned> stores) {
  SmallVector<Value> results;
  for (graph::ReduceOp reduce : reductions)
    results.push_back(reduce.getSrc());
  for (unsigned store : stores)
    results.push_back(op.getBody().front().getTerminator()->getOperand(store));
  SmallVector<graph::ScanOp> scans;
  visitSources(results, [&](Value value) {
    Operation *source = value.getDefiningOp();
    if (auto reduce = dyn_cast_or_null<graph::ReduceOp>(source);
        reduce && levels.formOfSource(reduce).column)
      return false; // known, or one of the pass
    if (auto scan = dyn_cast_or_null<graph::ScanOp>(source);
        scan && shape.forms.lookup(value).column)
      scans.push_back(scan);
    return true;
  });
  return scans;
}

/// Where the chunk of a turn begins: the last one first if scans come from the end.
Value RowKernel::startOfChunk(Value turn) {
  if (!shape.backwards)
    return turn;
  Value last = make<arith::SubIOp>(frame.sizeValue(product(shape.columns)), number(1));
  last = make<arith::MulIOp>(make<arith::DivSIOp>(last, number(cut.block)), number(cut.block));
  return make<arith::SubIOp>(last, turn);
}

/// What the loop of a pass carries at first: of its reductions, then of its scans.
SmallVector<Value> RowKernel::initialOf(const Pass &pass) {
  Elements elements(b, loc);
  SmallVector<Value> initial;
  for (graph::ReduceOp reduce : pass.reductions) {
    Type element = reduce.getType().getElement();
    Form form = levels.formOfSource(reduce);
    form.column &= !pass.sumsOf.count(reduce);
    Type type = blocks.blockType(form, Elements::computed(element));
    initial.push_back(elements.identity(type, reduce.getKind(), element));
  }
  for (graph::ScanOp scan : pass.scans) {
    Form form = shape.forms.lookup(scan.getResult());
    Type type =
        blocks.blockType({form.row, false}, Elements::computed(scan.getType().getElement()));
    initial.push_back(elements.identity(type, scan.getKind(), scan.getType().getElement()));
  }
  return initial;
}

/// Whether what is summed is a power of what is loaded as -inf behind the end of the row.
bool RowKernel::vanishesOutside(graph::ReduceOp sum, graph::ReduceOp maximum) const {
  auto power = sum.getSrc().getDefiningOp<MapOp>();
  auto apart = power && power.getKind() == MapKind::exp ? power.getOperand(0).getDefiningOp<MapOp>()
                                                        : MapOp();
  if (!apart)
    return false;
  OpOperand *use = &apart->getOpOperand(0);
  while (auto cast = use->get().getDefiningOp<CastOp>())
    use = &cast.getSrcMutable();
  return blocks.isLowestOutside(*use, maximum);
}

/// What a turn makes of the pass's reductions.
void RowKernel::reduceTurn(const Pass &pass, scf::ForOp turns, SmallVectorImpl<Value> &next) {
  Elements elements(b, loc);
  DenseMap<Operation *, Value> scales;
  next.resize(pass.reductions.size());
  for (auto [i, reduce] : llvm::enumerate(pass.reductions))
    if (pass.sumsOf.count(reduce))
      next[i] = carryMaximum(reduce, turns.getRegionIterArg(i), scales[reduce]);
  for (auto [i, reduce] : llvm::enumerate(pass.reductions)) {
    if (next[i])
      continue;
    Form form;
    Value block = blocks.get(graph::ReduceOp(reduce).getSrcMutable(), form);
    Value before = turns.getRegionIterArg(i);
    graph::ReduceOp sum = reduce, maximum = levels.carriedMaximum(sum);
    if (maximum)
      before = make<arith::MulFOp>(before, blocks.spread(scales[maximum], {form.row, false}, form));
    if (!maximum || !vanishesOutside(sum, maximum))
      block = blocks.cleared(sum, block, form);
    next[i] = elements.combine(sum.getKind(), sum.getType().getElement(), before, block);
  }
}

/// The body of a pass's loop: a chunk of the columns.
void RowKernel::runTurn(const Pass &pass, scf::ForOp turns) {
  blocks.enterLoop(turns);
  enterColumns(startOfChunk(turns.getInductionVar()));
  for (auto [i, scan] : llvm::enumerate(pass.scans))
    blocks.carry(scan, turns.getRegionIterArg(pass.reductions.size() + i));
  SmallVector<Value> next;
  reduceTurn(pass, turns, next);
  for (unsigned i : pass.stores) {
    Form form;
    if (PartialOp partial = partialOf(i)) {
      Value block = blocks.partialBlock(partial, form);
      blocks.addPartial(i, block, form, isFirst);
    } else {
      blocks.store(i);
    }
  }
  for (graph::ScanOp scan : pass.scans)
    next.push_back(blocks.carriedOn(scan));
  if (!next.empty())
    scf::YieldOp::create(b, loc, next);
  blocks.leaveLoop();
}

/// Goes through the columns once.
void RowKernel::runPass(ArrayRef<graph::ReduceOp> reductions, ArrayRef<unsigned> stored) {
  Pass pass;
  pass.reductions = reductions;
  pass.stores = stored;
  for (auto [i, reduce] : llvm::enumerate(reductions))
    if (graph::ReduceOp maximum = levels.carriedMaximum(reduce))
      pass.sumsOf[maximum].push_back(i);
  pass.scans = scansOf(reductions, stored);
  SmallVector<Value> initial = initialOf(pass);
  auto turns = scf::ForOp::create(b, loc, number(0), frame.sizeValue(product(shape.columns)),
                                  number(cut.block), initial);
  // Chunks are on their way while one is worked on.
  if (cut.stages != kDefaultStages && stored.empty())
    turns->setAttr(kNumStagesAttr, b.getI32IntegerAttr(cut.stages));
  {
    OpBuilder::InsertionGuard guard(b);
    if (initial.empty())
      b.setInsertionPoint(turns.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(turns.getBody());
    runTurn(pass, turns);
  }
  for (auto [i, reduce] : llvm::enumerate(reductions)) {
    Value whole = turns.getResult(i);
    if (!pass.sumsOf.count(reduce))
      whole = blocks.reduceBlock(reduce, whole, levels.formOfSource(reduce));
    blocks.know(graph::ReduceOp(reduce).getResult(), whole);
  }
}

/// Loads what is read for each row besides its elements: behind the passes nothing else would be
/// on its way meanwhile.
void RowKernel::loadOfRow() {
  for (Operation &inner : op.getBody().front().without_terminator()) {
    Value value = inner.getResult(0);
    if (levels.of(value) == 0 && !shape.forms.lookup(value).column && !isFree(&inner) &&
        !isa<PartialOp, graph::ReduceOp, graph::ScanOp>(inner))
      blocks.emit(value);
  }
}

void RowKernel::runInPasses() {
  Block &body = op.getBody().front();
  loadOfRow();
  unsigned last = levels.last();
  OperandRange results = body.getTerminator()->getOperands();
  for (unsigned level = 0; level <= last; ++level) {
    SmallVector<graph::ReduceOp> reductions;
    SmallVector<unsigned> stored;
    for (graph::ReduceOp reduce : body.getOps<graph::ReduceOp>())
      if (levels.of(reduce.getResult()) == level + 1 && levels.formOfSource(reduce).column &&
          (levels.of(reduce.getSrc()) <= level || levels.carriedMaximum(reduce)))
        reductions.push_back(reduce);
    for (auto [i, value] : llvm::enumerate(results))
      if (levels.of(value) == level && shape.forms.lookup(value).column)
        stored.push_back(i);
    if (!reductions.empty() || !stored.empty())
      runPass(reductions, stored);
  }
  blocks.setColumns({}, {}, {});
  for (auto [i, value] : llvm::enumerate(results))
    if (!shape.forms.lookup(value).column && !partialOf(i))
      blocks.store(i);
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

/// Where a result takes the place of what is read, all is read before anything is stored.
void RowKernel::storeAll() {
  if (op->hasAttr(kInPlaceAttr)) {
    for (Value value : op.getBody().front().getTerminator()->getOperands())
      blocks.emit(value);
    BarrierOp::create(b, loc);
  }
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
