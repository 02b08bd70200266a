//===- EmitChain.cpp - products of what others give ------------------------===//
//
// The loops over blocks of scores. Which rows and columns they go along is in ChainPlaces.cpp.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/ChainKernel.h"
#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::graph;

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
