//===- EmitChain.cpp - products of what others give ------------------------===//
//
// A program computes a block of rows of the result. It goes along the inner dimension: a block
// of scores, their powers relative to the largest so far, and what these add to the sums and to
// the result, which are scaled first if there is a larger one. Scores lie in registers only.
// Without a softmax what is computed of the first products' blocks is multiplied as it is.
//
// Powers are of two: exp(x) is 2^(x * log2(e)), and a factor of all scores is part of that.
// Blocks that a mask lets nobody see are not visited, and where all see all nothing is compared.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/BlockEmitter.h"
#include "passes/graph/ChainBounds.h"
#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

namespace {

constexpr Form kFull{true, true}, kRow{true, false}, kColumn{false, true};

class ChainKernel {
public:
  ChainKernel(const KernelShape &shape, const Cut &cut, ModuleOp module)
      : shape(shape), product(*shape.product), chain(product.chain->of), cut(cut),
        frame(shape, cut, module), scores(frame, product.left, cut.rows, cut.inner),
        right(frame, product.right, cut.inner, cut.block),
        result(frame, shape, cut.rows, cut.block), b(frame.b), loc(frame.loc), index(frame.index),
        comparisons(chain.hasSoftmax() ? comparisonsOf(product.left, chain.scores)
                                       : comparisonsOfFactor(product.left, chain.scores)) {
    for (auto [op, of] : llvm::zip_equal(chain.firsts, product.chain->firsts))
      firsts.push_back({op, std::make_unique<BlockEmitter>(frame, of.left, cut.rows, cut.depth),
                        std::make_unique<BlockEmitter>(frame, of.right, cut.depth, cut.inner)});
  }
  void run();

private:
  /// What the loops carry.
  struct State {
    Value sum;                    ///< of the second product
    Value top;                    ///< the largest score of each row, in units of powers of two
    SmallVector<Value, 1> powers; ///< sums of powers
  };
  /// A product in front.
  struct First {
    MatmulOp op;
    std::unique_ptr<BlockEmitter> query, key;
    Value left = {};      ///< its operand
    Value depthRows = {}; ///< mask of the right one; or null
  };
  /// The columns that a block of rows visits: where masks cut on the left, where all is seen,
  /// and where masks cut on the right.
  struct Columns {
    Value start, begin, partial, end;
    bool cutsLeft = false, cutsRight = false;
  };

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  Value number(int64_t value) { return frame.number(index, value); }
  Value wide(int64_t value) { return frame.number(b.getI64Type(), value); }
  Value f32(double value) { return Elements(b, loc).constant(b.getF32Type(), value); }
  bool anyBound(llvm::function_ref<bool(const ColumnBound &)> is) const;
  void findBlock();
  void enterDepth();
  void findUnit();
  Value endOf(const ColumnBound &bound, bool ofAll);
  Columns findColumns();
  State visit(State state, Value start, Value end, bool isCut);
  void enterColumns(Operation *loop, Value start, bool isCut);
  Value scoresOf();
  void multiplyFirsts();
  void step(State &state, Value block);
  std::pair<Value, Value> operandsOfSecond();
  void knowStatistics(const State &state);
  Value reduceRows(ReduceKind kind, Value block);
  /// One number a row, as a block's rows.
  Value asRows(Value line) { return result.asRows(line); }
  Value spread(Value line) { return scores.spread(asRows(line), kRow, kFull); }

  const KernelShape &shape;
  const ProductShape &product;
  Chain chain;
  const Cut &cut;
  KernelFrame frame;
  BlockEmitter scores, right, result;
  OpBuilder &b;
  Location loc;
  Type index;
  SmallVector<MaskComparison> comparisons;
  SmallVector<Value> batch; ///< which of the products is the program's
  Value firstRow;           ///< of the block
  SmallVector<First, 2> firsts;
  Value innerMask;    ///< of the right operand; or null
  Value innerColumns; ///< the same as `innerMask`, of columns
  Value base;         ///< scores are so many times `unit`, before log2(e)
  Value unit;         ///< f32: what powers of two are taken of is `base` times that
};

} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

bool ChainKernel::anyBound(llvm::function_ref<bool(const ColumnBound &)> is) const {
  return llvm::any_of(comparisons, [&](const MaskComparison &comparison) {
    return llvm::any_of(comparison.bounds, is);
  });
}

/// The program's block of rows. Where later rows see more columns, they come first: started
/// last they would run alone in the end.
void ChainKernel::findBlock() {
  Value program = make<ProgramIdOp>(b.getI32Type(), 0u);
  if (cut.wide)
    program = make<arith::ExtSIOp>(index, program);
  const Size &rows = shape.rows.back();
  Value up = make<arith::AddIOp>(frame.sizeValue(rows), number(cut.rows - 1));
  Value down = make<arith::DivSIOp>(up, number(cut.rows)), block = program;
  ArrayRef<Size> batches = ArrayRef(shape.rows).drop_back();
  bool growing = anyBound([](const ColumnBound &of) { return of.isUpper && of.factor > 0; });
  if (!batches.empty() && growing) {
    Value count = number(1);
    for (const Size &size : batches)
      count = make<arith::MulIOp>(count, frame.sizeValue(size));
    batch = frame.partsOf(make<arith::RemSIOp>(program, count), batches);
    block = make<arith::DivSIOp>(program, count);
  } else if (!batches.empty()) {
    batch = frame.partsOf(make<arith::DivSIOp>(program, down), batches);
    block = make<arith::RemSIOp>(program, down);
  }
  if (growing)
    block = make<arith::SubIOp>(make<arith::SubIOp>(down, number(1)), block);

  firstRow = make<arith::MulIOp>(block, number(cut.rows));
  Value row = result.asRows(frame.range(cut.rows, firstRow));
  Value column = result.asColumns(frame.range(cut.block, {}));
  Value rowMask = cut.evenRows ? Value() : result.below(row, rows);
  Value columnMask = cut.evenColumns ? Value() : result.below(column, shape.columns.back());
  SmallVector<Value> rowParts = batch;
  rowParts.push_back(row);
  for (BlockEmitter *of : {&result, &scores})
    of->setRows(row, rowMask, rowParts);
  for (First &first : firsts)
    first.query->setRows(row, rowMask, rowParts);
  for (BlockEmitter *of : {&result, &right})
    of->setColumns(column, columnMask, column);
}

static Type commonOf(MatmulOp op) {
  return promoteTypes(op.getLhs().getType().getElement(), op.getRhs().getType().getElement());
}

/// What a first product adds up fits a block: its left operand stays.
void ChainKernel::enterDepth() {
  Value line = frame.range(cut.depth, {});
  for (auto [first, of] : llvm::zip_equal(firsts, product.chain->firsts)) {
    Value column = first.query->asColumns(line), row = first.key->asRows(line), columns;
    if (!cut.evenDepth) {
      columns = first.query->below(column, of.depth);
      first.depthRows = first.key->below(row, of.depth);
    }
    SmallVector<Value> parts = batch;
    parts.push_back(row);
    first.query->setColumns(column, columns, column);
    first.key->setRows(row, first.depthRows, parts);
    first.left =
        first.query->operandBlock(first.op.getLhsMutable(), commonOf(first.op), columns, kColumn);
  }
}

/// Powers are of a multiple of the scores, and a positive number times all of them is part of it.
void ChainKernel::findUnit() {
  double perPower = chain.power.getKind() == MapKind::exp ? M_LOG2E : 1;
  base = chain.scores;
  unit = f32(perPower);
  auto map = base.getDefiningOp<MapOp>();
  if (!map || map.getKind() != MapKind::mul)
    return;
  for (unsigned i : {1u, 0u}) {
    auto type = cast<GraphTensorType>(map.getOperand(i).getType());
    if (!type.sizes().empty() || !isPositive(map.getOperand(i)))
      continue;
    Value factor = scores.emit(map.getOperand(i));
    factor = Elements(b, loc).convert(factor, type.getElement(), b.getF32Type());
    unit = make<arith::MulFOp>(factor, unit);
    base = map.getOperand(1 - i);
    return;
  }
}

/// Behind the last column, or at the first one, that any row of the block sees, or that all see.
Value ChainKernel::endOf(const ColumnBound &bound, bool ofAll) {
  Elements elements(b, loc);
  Type i64 = b.getI64Type();
  bool ofLastRow = (bound.factor > 0) == (bound.isUpper != ofAll);
  Value row = cut.wide ? firstRow : make<arith::ExtSIOp>(i64, firstRow);
  if (ofLastRow)
    row = make<arith::AddIOp>(row, wide(cut.rows - 1));
  Value at = make<arith::MulIOp>(row, wide(bound.factor));
  at = make<arith::AddIOp>(at, wide(bound.constant + bound.isUpper));
  for (auto [use, times] : bound.terms) {
    Form form;
    Value term = scores.get(*use, form);
    term = elements.convert(term, cast<GraphTensorType>(use->get().getType()).getElement(), i64);
    // Further than any column is far enough.
    constexpr int64_t far = int64_t(1) << 40;
    term = make<arith::MinSIOp>(make<arith::MaxSIOp>(term, wide(-far)), wide(far));
    at = make<arith::AddIOp>(at, make<arith::MulIOp>(term, wide(times)));
  }
  return at;
}

/// All ends but the last are multiples of the block.
ChainKernel::Columns ChainKernel::findColumns() {
  Value count = frame.sizeValue(product.inner);
  Columns out;
  out.cutsLeft = anyBound([](const ColumnBound &of) { return !of.isUpper; });
  out.cutsRight = !cut.evenInner || anyBound([](const ColumnBound &of) { return of.isUpper; });
  Value zero = wide(0), block = wide(cut.inner);
  Value end = cut.wide ? count : make<arith::ExtSIOp>(b.getI64Type(), count);
  Value partial = end, start = zero, begin = zero;
  for (const MaskComparison &comparison : comparisons)
    for (const ColumnBound &bound : comparison.bounds)
      if (bound.isUpper) {
        end = make<arith::MinSIOp>(end, endOf(bound, false));
        partial = make<arith::MinSIOp>(partial, endOf(bound, true));
      } else {
        start = make<arith::MaxSIOp>(start, endOf(bound, false));
        begin = make<arith::MaxSIOp>(begin, endOf(bound, true));
      }
  auto floor = [&](Value x) {
    return make<arith::MulIOp>(make<arith::DivSIOp>(make<arith::MaxSIOp>(x, zero), block), block);
  };
  auto narrow = [&](Value x) { return cut.wide ? x : make<arith::TruncIOp>(index, x); };
  end = make<arith::MaxSIOp>(end, zero);
  if (out.cutsRight)
    partial = floor(partial);
  if (out.cutsLeft) {
    // A block that begins behind the end is one too many: there is none.
    start = floor(make<arith::MinSIOp>(start, end));
    begin = floor(make<arith::AddIOp>(make<arith::MinSIOp>(begin, end), wide(cut.inner - 1)));
    partial = make<arith::MaxSIOp>(partial, begin);
  }
  out.start = narrow(start);
  out.begin = narrow(begin);
  out.partial = narrow(partial);
  out.end = narrow(end);
  return out;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void ChainKernel::enterColumns(Operation *loop, Value start, bool isCut) {
  Value line = frame.range(cut.inner, start);
  Value column = scores.asColumns(line), row = right.asRows(line), columns;
  innerMask = {};
  if (isCut && !cut.evenInner) {
    columns = scores.below(column, product.inner);
    innerMask = right.below(row, product.inner);
  }
  innerColumns = columns;
  scores.setColumns(column, columns, column);
  SmallVector<Value> parts = batch;
  parts.push_back(row);
  right.setRows(row, innerMask, parts);
  for (First &first : firsts) {
    first.key->setColumns(column, columns, column);
    first.key->enterLoop(loop);
  }
  scores.enterLoop(loop);
  right.enterLoop(loop, /*changesRows=*/true);
  if (isCut)
    return;
  for (const MaskComparison &comparison : comparisons) {
    Type type = scores.blockType(product.left.forms.lookup(comparison.value), b.getI1Type());
    scores.knowInLoop(comparison.value, Elements(b, loc).constant(type, comparison.wanted), {});
  }
}

void ChainKernel::multiplyFirsts() {
  for (First &first : firsts) {
    Value keys = first.key->operandBlock(first.op.getRhsMutable(), commonOf(first.op),
                                         first.depthRows, kRow);
    Type sum = Elements::computed(first.op.getType().getElement());
    Value zero = Elements(b, loc).constant(RankedTensorType::get({cut.rows, cut.inner}, sum), 0);
    Value dot = make<DotOp>(first.left, keys, zero, InputPrecision::ieee, 0u);
    scores.knowInLoop(first.op.getResult(), dot, {});
  }
}

/// A block of them, in units; -inf behind the last column.
Value ChainKernel::scoresOf() {
  Value block = scores.spread(scores.emit(base), product.left.forms.lookup(base), kFull);
  Type element = cast<GraphTensorType>(base.getType()).getElement();
  block = Elements(b, loc).convert(block, element, b.getF32Type());
  return scores.cleared(chain.maximum, block, kFull);
}

Value ChainKernel::reduceRows(ReduceKind kind, Value block) {
  Type type = b.getF32Type();
  auto reduce = tile::ReduceOp::create(b, loc, TypeRange{RankedTensorType::get({cut.rows}, type)},
                                       ValueRange{block}, 1u);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&reduce.getCombine(), {}, {type, type}, {loc, loc});
  Value x = body->getArgument(0), y = body->getArgument(1);
  // Of what is no number the sum is none.
  Value both = kind == ReduceKind::max ? make<arith::MaxNumFOp>(x, y) : make<arith::AddFOp>(x, y);
  tile::YieldOp::create(b, loc, ValueRange{both});
  return reduce->getResult(0);
}

/// Adds a block of scores.
void ChainKernel::step(State &state, Value block) {
  Elements elements(b, loc);
  Type line = state.top.getType();
  Value units = make<SplatOp>(line, unit);
  Value own = make<arith::MulFOp>(reduceRows(ReduceKind::max, block), units);
  Value top = make<arith::MaxNumFOp>(state.top, own);
  // -inf - -inf is no number: a row that has seen nothing subtracts 0.
  Value lowest = elements.constant(line, -INFINITY);
  Value isNone = make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, top, lowest);
  Value from = make<arith::SelectOp>(isNone, elements.constant(line, 0), top);
  Value scaled = make<arith::MulFOp>(block, make<SplatOp>(block.getType(), unit));
  Value powers = make<math::Exp2Op>(make<arith::SubFOp>(scaled, spread(from)));
  Value by = make<math::Exp2Op>(make<arith::SubFOp>(state.top, from));
  for (Value &sum : state.powers)
    sum = make<arith::AddFOp>(make<arith::MulFOp>(sum, by), reduceRows(ReduceKind::sum, powers));
  scores.knowInLoop(chain.power.getResult(), powers, {});

  auto [p, v] = operandsOfSecond();
  Value sum = make<arith::MulFOp>(state.sum, result.spread(asRows(by), kRow, kFull));
  state.sum = make<DotOp>(p, v, sum, InputPrecision::ieee, 0u);
  state.top = top;
}

/// Powers behind the last column are 0 by themselves.
std::pair<Value, Value> ChainKernel::operandsOfSecond() {
  MatmulOp second = chain.second;
  Value mask = chain.hasSoftmax() ? Value() : innerColumns;
  Value p = scores.operandBlock(second.getLhsMutable(), commonOf(second), mask, kColumn);
  return {p, right.operandBlock(second.getRhsMutable(), commonOf(second), innerMask, kRow)};
}

ChainKernel::State ChainKernel::visit(State state, Value start, Value end, bool isCut) {
  auto pack = [&](const State &of) {
    SmallVector<Value> values = {of.sum};
    if (chain.hasSoftmax())
      values.push_back(of.top);
    llvm::append_range(values, of.powers);
    return values;
  };
  SmallVector<Value> carried = pack(state);
  auto turns = scf::ForOp::create(b, loc, start, end, number(cut.inner), carried);
  auto unpack = [&](ValueRange values) {
    if (!chain.hasSoftmax())
      return State{values[0], {}, {}};
    return State{values[0], values[1], llvm::to_vector<1>(values.drop_front(2))};
  };
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(turns.getBody());
  enterColumns(turns, turns.getInductionVar(), isCut);
  State next = unpack(turns.getRegionIterArgs());
  multiplyFirsts();
  if (chain.hasSoftmax()) {
    step(next, scoresOf());
  } else {
    auto [p, v] = operandsOfSecond();
    next.sum = make<DotOp>(p, v, next.sum, InputPrecision::ieee, 0u);
  }
  scf::YieldOp::create(b, loc, pack(next));
  for (BlockEmitter *of : {&scores, &right})
    of->leaveLoop();
  for (First &first : firsts)
    first.key->leaveLoop();
  return unpack(turns.getResults());
}

void ChainKernel::run() {
  findBlock();
  enterDepth();
  if (chain.hasSoftmax())
    findUnit();
  Elements elements(b, loc);
  Type line = RankedTensorType::get({cut.rows}, b.getF32Type());
  State state;
  state.sum = elements.constant(RankedTensorType::get({cut.rows, cut.block}, b.getF32Type()), 0);
  state.top = elements.constant(line, -INFINITY);
  state.powers.assign(chain.sums.size(), elements.constant(line, 0));
  Columns columns = findColumns();
  if (columns.cutsLeft)
    state = visit(state, columns.start, columns.begin, /*isCut=*/true);
  state = visit(state, columns.begin, columns.partial, /*isCut=*/false);
  if (columns.cutsRight)
    state = visit(state, columns.partial, columns.end, /*isCut=*/true);

  result.know(chain.second.getResult(), state.sum);
  if (chain.hasSoftmax())
    knowStatistics(state);
  for (size_t i = 0; i < shape.stores.size(); ++i)
    result.store(i);
  func::ReturnOp::create(b, loc);
}

/// What the rows of scores are reduced to.
void ChainKernel::knowStatistics(const State &state) {
  for (auto [sum, powers] : llvm::zip(chain.sums, state.powers))
    result.know(graph::ReduceOp(sum).getResult(), asRows(powers));
  double perUnit = chain.power.getKind() == MapKind::exp ? M_LN2 : 1;
  Value by = Elements(b, loc).constant(state.top.getType(), perUnit);
  result.know(chain.maximum.getResult(), asRows(make<arith::MulFOp>(state.top, by)));
}

void tile::graph::emitChain(const KernelShape &shape, const Cut &cut, ModuleOp module) {
  ChainKernel(shape, cut, module).run();
}
