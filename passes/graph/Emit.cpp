//===- Emit.cpp - a kernel's rows and columns as a tile function ----------===//
//
// A program takes `cut.rows` rows. Rows that fit into a block are loaded once, all that is
// computed from them stays where it is, and results are stored at the end. Longer rows are
// gone through in a loop for each reduction that needs the result of another, and once
// more for what is stored.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/BlockEmitter.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

namespace {

class RowKernel {
public:
  RowKernel(const KernelShape &shape, const Cut &cut, ModuleOp module)
      : shape(shape), op(shape.op), cut(cut), frame(shape, cut, module),
        blocks(frame, shape, cut.rows, cut.block), b(frame.b), loc(frame.loc), index(frame.index) {}
  void run();

private:
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  Value number(int64_t value) { return frame.number(index, value); }
  Value splitProgram(Value &program);
  void findIndices();
  void enterColumns(Value start);
  unsigned levelOf(Value value);
  Form formOfSource(graph::ReduceOp op);
  void runInPasses();
  void runPass(ArrayRef<graph::ReduceOp> reductions, ArrayRef<unsigned> stores);

  const KernelShape &shape;
  KernelOp op;
  const Cut &cut;
  KernelFrame frame;
  BlockEmitter blocks;
  OpBuilder &b;
  Location loc;
  Type index;
  DenseMap<Value, unsigned> levels;
};

} // namespace

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The block of columns that a program takes, where it does not take all of them; the
/// program becomes its block of rows.
Value RowKernel::splitProgram(Value &program) {
  Value block = program;
  if (product(shape.rows).isConstant(1)) {
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
  Value row = program, mask;
  if (cut.rows > 1) {
    row = blocks.asRows(frame.range(cut.rows, make<arith::MulIOp>(program, number(cut.rows))));
    if (!cut.evenRows)
      mask = blocks.below(row, product(shape.rows));
  }
  blocks.setRows(row, mask, frame.partsOf(row, shape.rows));
  if (!cut.loop)
    enterColumns(columnBlock ? make<arith::MulIOp>(columnBlock, number(cut.block)) : Value());
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

/// How many reductions must be finished before the value can be known.
unsigned RowKernel::levelOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return 0;
  if (auto found = levels.find(value); found != levels.end())
    return found->second;
  unsigned level = 0;
  for (Value operand : op->getOperands())
    level = std::max(level, levelOf(operand));
  auto reduce = dyn_cast<graph::ReduceOp>(op);
  bool reduces = reduce && formOfSource(reduce).column;
  return levels[value] = level + reduces;
}

Form RowKernel::formOfSource(graph::ReduceOp reduce) {
  auto load = shape.loadOf.find(&reduce.getSrcMutable());
  if (load == shape.loadOf.end())
    return shape.forms.lookup(reduce.getSrc());
  return {shape.loads[load->second].hasRow, shape.loads[load->second].hasColumn};
}

/// Goes through the columns once.
void RowKernel::runPass(ArrayRef<graph::ReduceOp> reductions, ArrayRef<unsigned> stored) {
  Elements elements(b, loc);
  SmallVector<Value> initial;
  for (graph::ReduceOp reduce : reductions) {
    Type element = reduce.getType().getElement();
    Type type = blocks.blockType(formOfSource(reduce), Elements::computed(element));
    initial.push_back(elements.identity(type, reduce.getKind(), element));
  }
  auto turns = scf::ForOp::create(b, loc, number(0), frame.sizeValue(product(shape.columns)),
                                  number(cut.block), initial);
  {
    OpBuilder::InsertionGuard guard(b);
    if (reductions.empty())
      b.setInsertionPoint(turns.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(turns.getBody());
    blocks.enterLoop(turns);
    enterColumns(turns.getInductionVar());
    SmallVector<Value> next;
    for (size_t i = 0; i < reductions.size(); ++i) {
      graph::ReduceOp reduce = reductions[i];
      Form form;
      Value block = blocks.get(reduce.getSrcMutable(), form);
      next.push_back(elements.combine(reduce.getKind(), reduce.getType().getElement(),
                                      turns.getRegionIterArg(i),
                                      blocks.cleared(reduce, block, form)));
    }
    for (unsigned i : stored)
      blocks.store(i);
    if (!reductions.empty())
      scf::YieldOp::create(b, loc, next);
    blocks.leaveLoop();
  }
  for (size_t i = 0; i < reductions.size(); ++i) {
    graph::ReduceOp reduce = reductions[i];
    blocks.know(reduce.getResult(),
                blocks.reduceBlock(reduce, turns.getResult(i), formOfSource(reduce)));
  }
}

void RowKernel::runInPasses() {
  Block &body = op.getBody().front();
  unsigned last = 0;
  for (Operation &inner : body.without_terminator())
    last = std::max(last, levelOf(inner.getResult(0)));
  OperandRange results = body.getTerminator()->getOperands();
  for (unsigned level = 0; level <= last; ++level) {
    SmallVector<graph::ReduceOp> reductions;
    SmallVector<unsigned> stored;
    for (graph::ReduceOp reduce : body.getOps<graph::ReduceOp>())
      if (levelOf(reduce.getResult()) == level + 1 && levelOf(reduce.getSrc()) <= level)
        reductions.push_back(reduce);
    for (auto [i, value] : llvm::enumerate(results))
      if (levelOf(value) == level && shape.forms.lookup(value).column)
        stored.push_back(i);
    if (!reductions.empty() || !stored.empty())
      runPass(reductions, stored);
  }
  blocks.setColumns({}, {}, {});
  for (auto [i, value] : llvm::enumerate(results))
    if (!shape.forms.lookup(value).column)
      blocks.store(i);
}

void RowKernel::run() {
  findIndices();
  // Numbers stand in front, where every loop sees them.
  for (Operation &inner : op.getBody().front().without_terminator())
    if (isFree(&inner))
      blocks.emit(inner.getResult(0));
  if (cut.loop)
    runInPasses();
  else
    for (size_t i = 0; i < shape.stores.size(); ++i)
      blocks.store(i);
  func::ReturnOp::create(b, loc);
}

void tile::graph::emitKernel(const KernelShape &shape, const Cut &cut, ModuleOp module) {
  if (shape.product)
    emitProduct(shape, cut, module);
  else
    RowKernel(shape, cut, module).run();
}
