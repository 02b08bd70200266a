//===- ChainPlaces.cpp - where a program of a chain of products works -----===//
//
// The program's rows, what its scores are multiples of, and which columns it visits: those that
// masks let any of its rows see, and of these the ones where all rows see all, so that nothing is
// compared there.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/ChainKernel.h"
#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

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
