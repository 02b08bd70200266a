//===- RowPasses.cpp - long rows, gone through in loops -------------------===//
//
// A pass is a loop over the chunks of a row. It computes the reductions whose operands are known,
// and stores the results that need no other, unless what they would be written over is read again;
// what it carries from chunk to chunk is what it has reduced and scanned so far. The next pass
// knows what this one has found. Sums of what is relative to a maximum are carried beside it, and
// scaled where it grows: they need no pass of their own.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/graph/Attributes.h"
#include "passes/graph/RowKernel.h"
#include "passes/graph/Sources.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

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
    Value before = scannedBefore.lookup(scan);
    initial.push_back(
        before ? before : elements.identity(type, scan.getKind(), scan.getType().getElement()));
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

/// Whether a result lies in an array that the pass reads, though not for that result: nothing else
/// would bring the others' loads before its store.
bool RowKernel::isReadBeside(const Pass &pass) {
  auto places = op->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttr);
  Block &body = op.getBody().front();
  auto stored = [&](unsigned i) { return body.getTerminator()->getOperand(i); };
  for (size_t i = 0; places && i + 1 < size_t(places.size()); i += 2) {
    BlockArgument array = body.getArgument(unsigned(places[i + 1]));
    if (!llvm::is_contained(pass.stores, unsigned(places[i])) ||
        levels.reads(stored(unsigned(places[i])), array))
      continue;
    if (llvm::any_of(pass.stores,
                     [&](unsigned other) { return levels.reads(stored(other), array); }) ||
        llvm::any_of(pass.reductions,
                     [&](graph::ReduceOp reduce) { return levels.reads(reduce.getSrc(), array); }))
      return true;
  }
  return false;
}

/// The body of a pass's loop: a chunk of the columns.
void RowKernel::runTurn(const Pass &pass, scf::ForOp turns) {
  blocks.enterLoop(turns);
  enterColumns(startOfChunk(turns.getInductionVar()));
  for (auto [i, scan] : llvm::enumerate(pass.scans))
    blocks.carry(scan, turns.getRegionIterArg(pass.reductions.size() + i));
  SmallVector<Value> next;
  reduceTurn(pass, turns, next);
  // Of a chunk with an element for each thread, a thread stores what it has read itself.
  if (!pass.stores.empty() &&
      (cut.rows * cut.block < int64_t(32) * cut.warps || isReadBeside(pass)))
    readBeforeStores(pass.stores);
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
  Value from = number(0), step = number(cut.block * cut.parts);
  Value to = frame.sizeValue(product(shape.columns));
  if (cut.share == Share::Step && !pass.scans.empty())
    std::tie(from, to, step) = std::tuple_cat(boundsOfPart(), std::tuple(number(cut.block)));
  else if (cut.share == Share::Step)
    from = make<arith::MulIOp>(partOfRow(), number(cut.block));
  auto turns = scf::ForOp::create(b, loc, from, to, step, initial);
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
    if (cut.share == Share::Step)
      storeShared(graph::ReduceOp(reduce).getType().getElement(), levels.formOfSource(reduce).row,
                  whole, frame.sums[firstOfOwn + i]);
    else
      blocks.know(graph::ReduceOp(reduce).getResult(), whole);
  }
}

/// Loads what is read for each row besides its elements: behind the passes nothing else would be
/// on its way meanwhile.
void RowKernel::loadOfRow(const llvm::SmallDenseSet<Value> *wanted) {
  for (Operation &inner : op.getBody().front().without_terminator()) {
    Value value = inner.getResult(0);
    if ((!wanted || wanted->contains(value)) && levels.of(value) == 0 &&
        !shape.forms.lookup(value).column && !isFree(&inner) &&
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
      if (shape.forms.lookup(value).column && levels.storedIn(value) == level)
        stored.push_back(i);
    if (!reductions.empty() || !stored.empty())
      runPass(reductions, stored);
  }
  SmallVector<unsigned> ofRows;
  for (auto [i, value] : llvm::enumerate(results))
    if (!shape.forms.lookup(value).column && !partialOf(i))
      ofRows.push_back(unsigned(i));
  storeRows(ofRows);
}

/// What there is one of for each row.
void RowKernel::storeRows(ArrayRef<unsigned> stores) {
  blocks.setColumns({}, {}, {});
  if (!stores.empty())
    readBeforeStores(stores);
  for (unsigned i : stores)
    blocks.store(i);
}
