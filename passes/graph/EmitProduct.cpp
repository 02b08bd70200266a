//===- EmitProduct.cpp - a matrix product with what is done around it -----===//
//
// A program computes one block of the result. A loop along the inner dimension loads
// blocks of both operands, does what is done with their elements, and adds up their
// product; behind it what is done with the result's elements is done where the sum is.
// Where there are few blocks, programs share the inner dimension: one kernel stores the
// sums of parts of it, and another adds those up and does the rest.
//
// Of products side by side (SideBySide.h) a program's is chosen by its block of columns, and with
// it the right operand's array and strides, so that there is one loop for all; behind it branches
// do what is done with each result.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/BlockEmitter.h"
#include "passes/graph/ScatterRows.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

namespace {

class ProductKernel {
public:
  ProductKernel(const KernelShape &shape, const Cut &cut, ModuleOp module)
      : shape(shape), product(*shape.product), multiply(product.op), cut(cut),
        frame(shape, cut, module), left(frame, product.left, cut.rows, cut.inner),
        right(frame, product.right, cut.inner, cut.block),
        result(frame, shape, cut.rows, cut.block), b(frame.b), loc(frame.loc), index(frame.index) {
    for (auto &[op, of] : product.others)
      others.push_back(std::make_unique<BlockEmitter>(frame, of, cut.inner, cut.block));
    for (const KernelShape &of : shape.beside)
      beside.push_back({of, std::make_unique<BlockEmitter>(frame, of, cut.rows, cut.block), {}});
  }
  void run();

private:
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  Value number(int64_t value) { return frame.number(index, value); }
  Value blocksOf(const Size &size, int64_t block);
  void findBlock();
  Value findProduct(Value blockColumn, Value across);
  Value chosen(llvm::function_ref<Value(const KernelShape &)> of);
  void chooseRight();
  void storeResults(BlockEmitter &emitter, const KernelShape &of, ArrayRef<Value> sums);
  void storeResultsOf(unsigned count, ArrayRef<Value> sums);
  void enterInner(Value start);
  std::pair<Value, Value> innerOfPart();
  SmallVector<Value> zeros();
  SmallVector<Value> multiplyAll();
  Value sumPointers(Value sums, Value part);
  void storeSums(ArrayRef<Value> sums);
  SmallVector<Value> addParts();

  const KernelShape &shape;
  const ProductShape &product;
  MatmulOp multiply;
  const Cut &cut;
  KernelFrame frame;
  BlockEmitter left, right, result;
  std::vector<std::unique_ptr<BlockEmitter>> others; ///< right operands of other products
  /// A product that has programs of its own.
  struct Beside {
    const KernelShape &shape;
    std::unique_ptr<BlockEmitter> result;
    Value isBehind; ///< i1: the program's product is this one or one behind it
  };
  SmallVector<Beside> beside;
  OpBuilder &b;
  Location loc;
  Type index;
  SmallVector<Value> batch;      ///< which of the products is the program's
  Value batchNumber;             ///< that as one number; null: there is one
  Value row, column;             ///< of the block
  Value innerColumns, innerRows; ///< masks of the operands along what is added up; or null
};

} // namespace

Value ProductKernel::blocksOf(const Size &size, int64_t block) {
  Value up = make<arith::AddIOp>(frame.sizeValue(size), number(block - 1));
  return make<arith::DivSIOp>(up, number(block));
}

/// The program's block of the result.
void ProductKernel::findBlock() {
  Value program = make<ProgramIdOp>(b.getI32Type(), 0u);
  if (cut.wide)
    program = make<arith::ExtSIOp>(index, program);
  Size rows = shape.joinsRows ? graph::product(shape.rows) : shape.rows.back();
  const Size &columns = shape.columns.back();
  Value down = blocksOf(rows, cut.rows), own = blocksOf(columns, cut.block), across = own;
  for (const Beside &other : beside)
    across = make<arith::AddIOp>(across, blocksOf(other.shape.columns.back(), cut.block));
  ArrayRef<Size> batches = ArrayRef(shape.rows).drop_back();
  if (!batches.empty() && !shape.joinsRows) {
    Value each = make<arith::MulIOp>(down, across);
    batchNumber = make<arith::DivSIOp>(program, each);
    batch = frame.partsOf(batchNumber, batches);
    program = make<arith::RemSIOp>(program, each);
  }
  int64_t band = tuningOf(shape.op).productBand;
  Value ofBand = make<arith::MulIOp>(number(band), across);
  Value first = make<arith::MulIOp>(make<arith::DivSIOp>(program, ofBand), number(band));
  Value height = make<arith::MinSIOp>(make<arith::SubIOp>(down, first), number(band));
  Value place = make<arith::RemSIOp>(program, ofBand);
  Value blockRow = make<arith::AddIOp>(first, make<arith::RemSIOp>(place, height));
  Value blockColumn = findProduct(make<arith::DivSIOp>(place, height), own);

  row = result.asRows(frame.range(cut.rows, make<arith::MulIOp>(blockRow, number(cut.rows))));
  column =
      result.asColumns(frame.range(cut.block, make<arith::MulIOp>(blockColumn, number(cut.block))));
  Value rowMask = cut.evenRows ? Value() : result.below(row, rows);
  Value columnMask;
  if (!cut.evenColumns) {
    Value end = chosen([&](const KernelShape &of) { return frame.sizeValue(of.columns.back()); });
    columnMask = make<arith::CmpIOp>(arith::CmpIPredicate::slt, column,
                                     make<SplatOp>(column.getType(), end));
  }
  SmallVector<Value> rowParts = batch;
  if (shape.joinsRows)
    rowParts = frame.partsOf(row, shape.rows);
  else
    rowParts.push_back(row);
  Value isFirst = make<arith::CmpIOp>(arith::CmpIPredicate::eq, blockColumn, number(0));
  auto enter = [&](BlockEmitter &of) {
    of.setRows(row, rowMask, rowParts);
    of.setColumns(column, columnMask, column);
    of.firstColumns = isFirst;
  };
  enter(result);
  for (Beside &other : beside)
    enter(*other.result);
  left.setRows(row, rowMask, rowParts);
  right.setColumns(column, columnMask, column);
  for (auto &other : others)
    other->setColumns(column, columnMask, column);
}

/// Which of the products side by side is the program's; its block of columns there. `end` is the
/// block of all behind the first product's.
Value ProductKernel::findProduct(Value block, Value end) {
  Value start;
  for (Beside &other : beside) {
    other.isBehind = make<arith::CmpIOp>(arith::CmpIPredicate::sge, block, end);
    start = make<arith::SelectOp>(other.isBehind, end, start ? start : number(0));
    end = make<arith::AddIOp>(end, blocksOf(other.shape.columns.back(), cut.block));
  }
  // That it is not negative passes behind can see.
  return start ? make<arith::MaxSIOp>(make<arith::SubIOp>(block, start), number(0)) : block;
}

/// What the program's product has of something that each has.
Value ProductKernel::chosen(llvm::function_ref<Value(const KernelShape &)> of) {
  Value value = of(shape);
  for (const Beside &other : beside)
    value = make<arith::SelectOp>(other.isBehind, of(other.shape), value);
  return value;
}

/// The right operand of all products is read as that of the first is, but from another array.
void ProductKernel::chooseRight() {
  if (beside.empty())
    return;
  auto load = [](const KernelShape &of) -> const Access & {
    return of.product->right.loads.front();
  };
  right.arrayInstead = chosen([&](auto &of) { return frame.arrays[load(of).array]; });
  auto choose = [&](auto strides) -> Value {
    auto its = [&](const KernelShape &of) { return (load(of).*strides).back(); };
    auto isSame = [&](const Beside &other) { return its(other.shape) == its(shape); };
    if (llvm::all_of(beside, isSame))
      return {};
    return chosen([&](const KernelShape &of) { return frame.sizeValue(its(of)); });
  };
  right.rowStrideInstead = choose(&Access::rowStrides);
  right.columnStrideInstead = choose(&Access::columnStrides);
}

/// Goes on along the inner dimension.
void ProductKernel::enterInner(Value start) {
  Value line = frame.range(cut.inner, start);
  Value column = left.asColumns(line), row = right.asRows(line);
  innerColumns = cut.evenInner ? Value() : left.below(column, product.inner);
  innerRows = cut.evenInner ? Value() : left.below(row, product.inner);
  left.setColumns(column, innerColumns, column);
  SmallVector<Value> rowParts = batch;
  rowParts.push_back(row);
  right.setRows(row, innerRows, rowParts);
  for (auto &other : others)
    other->setRows(row, innerRows, rowParts);
}

/// Where the program's part of the inner dimension begins and ends. Turns are dealt out evenly:
/// no part has two more than another.
std::pair<Value, Value> ProductKernel::innerOfPart() {
  if (cut.share != Share::Parts)
    return {number(0), frame.sizeValue(product.inner)};
  Value part = make<ProgramIdOp>(b.getI32Type(), 1u),
        parts = make<NumProgramsOp>(b.getI32Type(), 1u);
  if (cut.wide) {
    part = make<arith::ExtSIOp>(index, part);
    parts = make<arith::ExtSIOp>(index, parts);
  }
  Value turns = blocksOf(product.inner, cut.inner);
  auto startOf = [&](Value which) {
    Value before = make<arith::DivSIOp>(make<arith::MulIOp>(which, turns), parts);
    return make<arith::MulIOp>(before, number(cut.inner));
  };
  return {startOf(part), startOf(make<arith::AddIOp>(part, number(1)))};
}

/// Sums of nothing, by product.
SmallVector<Value> ProductKernel::zeros() {
  SmallVector<Value> made;
  for (MatmulOp op : productsOf(shape)) {
    Type sum = Elements::computed(op.getType().getElement());
    made.push_back(Elements(b, loc).constant(RankedTensorType::get({cut.rows, cut.block}, sum), 0));
  }
  return made;
}

/// The sums of the program's part, or of all, by product.
SmallVector<Value> ProductKernel::multiplyAll() {
  std::vector<MatmulOp> products = productsOf(shape);
  SmallVector<BlockEmitter *> rights = {&right};
  for (auto &emitter : others)
    rights.push_back(emitter.get());
  auto [from, to] = innerOfPart();
  auto turns = scf::ForOp::create(b, loc, from, to, number(cut.inner), zeros());
  if (cut.stages != kDefaultStages)
    turns->setAttr(kNumStagesAttr, b.getI32IntegerAttr(cut.stages));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(turns.getBody());
    enterInner(turns.getInductionVar());
    left.enterLoop(turns);
    Type common = promoteTypes(multiply.getLhs().getType().getElement(),
                               multiply.getRhs().getType().getElement());
    Value x = left.operandBlock(multiply.getLhsMutable(), common, innerColumns, {false, true});
    SmallVector<Value> added;
    for (auto [i, op] : llvm::enumerate(products)) {
      rights[i]->enterLoop(turns, /*changesRows=*/true);
      Value y = rights[i]->operandBlock(op.getRhsMutable(), common, innerRows, {true, false});
      added.push_back(make<DotOp>(x, y, turns.getRegionIterArg(i), InputPrecision::ieee, 0u));
    }
    scf::YieldOp::create(b, loc, added);
  }
  return SmallVector<Value>(turns.getResults());
}

/// Where the block lies in the sums of a part: [parts, batch, rows, columns].
Value ProductKernel::sumPointers(Value sums, Value part) {
  Value width = frame.sizeValue(shape.columns.back());
  Value before = make<arith::MulIOp>(part, frame.sizeValue(graph::product(shape.rows)));
  if (batchNumber)
    before = make<arith::AddIOp>(
        before, make<arith::MulIOp>(batchNumber, frame.sizeValue(shape.rows.back())));
  Value start = make<AddPtrOp>(sums, make<arith::MulIOp>(before, width));
  Value down = make<arith::MulIOp>(row, make<SplatOp>(row.getType(), width));
  Form rows{true, false}, both{true, true};
  Value lines = make<AddPtrOp>(result.spread(start, {}, rows), down);
  return make<AddPtrOp>(result.spread(lines, rows, both),
                        result.spread(column, {false, true}, both));
}

void ProductKernel::storeSums(ArrayRef<Value> sums) {
  Value part = make<ProgramIdOp>(b.getI32Type(), 1u);
  if (cut.wide)
    part = make<arith::ExtSIOp>(index, part);
  for (auto [to, sum] : llvm::zip_equal(frame.sums, sums))
    StoreOp::create(b, loc, sumPointers(to, part), sum, result.maskOf({true, true}));
}

/// The sums of all parts, always in the same order. All are loaded before one is added.
SmallVector<Value> ProductKernel::addParts() {
  SmallVector<Value> sums;
  for (Value from : frame.sums) {
    SmallVector<Value> loaded;
    for (int64_t part = 0; part < cut.parts; ++part)
      loaded.push_back(
          make<LoadOp>(sumPointers(from, number(part)), result.maskOf({true, true}), Value()));
    Value sum = loaded.front();
    for (Value other : ArrayRef(loaded).drop_front())
      sum = make<arith::AddFOp>(sum, other);
    sums.push_back(sum);
  }
  return sums;
}

void ProductKernel::storeResults(BlockEmitter &emitter, const KernelShape &of,
                                 ArrayRef<Value> sums) {
  for (auto [op, sum] : llvm::zip_equal(productsOf(of), sums))
    emitter.know(op.getResult(), sum);
  for (size_t i = 0; i < of.stores.size(); ++i)
    emitter.store(i);
}

/// What becomes of the program's product, which is the first or one of the next `count`.
void ProductKernel::storeResultsOf(unsigned count, ArrayRef<Value> sums) {
  if (count == 0)
    return storeResults(result, shape, sums);
  Beside &last = beside[count - 1];
  auto branch = scf::IfOp::create(b, loc, last.isBehind, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  storeResults(*last.result, last.shape, sums);
  b.setInsertionPointToStart(branch.elseBlock());
  storeResultsOf(count - 1, sums);
}

void ProductKernel::run() {
  right.streams = cut.streams;
  for (auto &other : others)
    other->streams = cut.streams;
  findBlock();
  chooseRight();
  SmallVector<Value> sums = cut.share == Share::Sum     ? addParts()
                            : cut.share == Share::Clear ? zeros()
                                                        : multiplyAll();
  if (cut.share == Share::Parts || cut.share == Share::Clear) {
    storeSums(sums);
  } else {
    storeResultsOf(beside.size(), sums);
  }
  func::ReturnOp::create(b, loc);
}

void tile::graph::emitProduct(const KernelShape &shape, const Cut &cut, ModuleOp module) {
  if (cut.share == Share::Scatter)
    return emitScatter(shape, cut, module);
  ProductKernel(shape, cut, module).run();
}
