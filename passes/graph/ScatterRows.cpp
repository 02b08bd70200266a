//===- ScatterRows.cpp - rows that are added up where numbers say ---------===//
#include "passes/graph/ScatterRows.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/BlockEmitter.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

/// Whether a value is the numbers of the rows themselves.
static bool isRowNumber(Value value, const KernelShape &left) {
  Form form = left.forms.lookup(value);
  while (auto view = value.getDefiningOp<RearrangeOp>())
    value = view.getSrc();
  return form.row && !form.column && value.getDefiningOp<IndexOp>();
}

OpOperand *tile::graph::rowsAddedTo(const KernelShape &shape) {
  if (!shape.product || shape.product->chain || !shape.product->others.empty() ||
      !shape.beside.empty() || shape.rows.size() != 1 || shape.columns.size() != 1)
    return nullptr;
  const KernelShape &left = shape.product->left;
  MatmulOp product = shape.product->op;
  auto ones = product.getLhs().getDefiningOp<CastOp>();
  auto hits = ones ? ones.getSrc().getDefiningOp<MapOp>() : MapOp();
  if (!hits || hits.getKind() != MapKind::eq ||
      !cast<GraphTensorType>(hits.getOperand(0).getType()).getElement().isInteger() ||
      !cast<GraphTensorType>(hits.getOperand(1).getType()).getElement().isInteger() ||
      !computeType(product.getType().getElement()).isF32())
    return nullptr;
  for (unsigned i : {0u, 1u}) {
    OpOperand &at = hits->getOpOperand(1 - i);
    auto load = left.loadOf.find(&at);
    Form form = load == left.loadOf.end()
                    ? left.forms.lookup(at.get())
                    : Form{left.loads[load->second].hasRow, left.loads[load->second].hasColumn};
    if (isRowNumber(hits.getOperand(i), left) && !form.row && form.column)
      return &at;
  }
  return nullptr;
}

void tile::graph::emitScatter(const KernelShape &shape, const Cut &cut, ModuleOp module) {
  const ProductShape &product = *shape.product;
  MatmulOp multiply = product.op;
  KernelFrame frame(shape, cut, module);
  OpBuilder &b = frame.b;
  Location loc = frame.loc;
  auto number = [&](int64_t value) { return frame.number(frame.index, value); };
  // The left operand's columns are the right one's rows: one line of numbers.
  BlockEmitter left(frame, product.left, 1, cut.inner);
  BlockEmitter right(frame, product.right, cut.inner, cut.block);
  Value program = ProgramIdOp::create(b, loc, b.getI32Type(), 0u);
  if (cut.wide)
    program = arith::ExtSIOp::create(b, loc, frame.index, program);
  const Size &width = shape.columns.back();
  Value across = arith::DivSIOp::create(
      b, loc,
      arith::AddIOp::create(b, loc, frame.sizeValue(width), number(cut.block - 1)).getResult(),
      number(cut.block));
  Value block = arith::RemSIOp::create(b, loc, program, across);
  Value turn = arith::DivSIOp::create(b, loc, program, across);
  Value line = frame.range(cut.inner, arith::MulIOp::create(b, loc, turn, number(cut.inner)));
  Value row = right.asRows(line);
  Value column = right.asColumns(
      frame.range(cut.block, arith::MulIOp::create(b, loc, block, number(cut.block))));
  Value rowMask = cut.evenInner ? Value() : right.below(row, product.inner);
  Value lineMask = cut.evenInner ? Value() : left.below(line, product.inner);
  Value columnMask = cut.evenColumns ? Value() : right.below(column, width);
  left.setRows(number(0), {}, {number(0)});
  left.setColumns(line, lineMask, line);
  right.setRows(row, rowMask, row);
  right.setColumns(column, columnMask, column);

  OpOperand *at = rowsAddedTo(shape);
  Form form;
  Value to = left.get(*at, form);
  Type wide = withElementType(to.getType(), b.getI64Type());
  if (to.getType() != wide) {
    Type element = cast<GraphTensorType>(at->get().getType()).getElement();
    to = element.isUnsignedInteger() ? Value(arith::ExtUIOp::create(b, loc, wide, to))
                                     : Value(arith::ExtSIOp::create(b, loc, wide, to));
  }
  auto wideSize = [&](const Size &size) -> Value {
    Value value = frame.sizeValue(size);
    Type type = b.getI64Type();
    return value.getType() == type ? value : arith::ExtSIOp::create(b, loc, type, value);
  };
  // Numbers of no row, negative ones too, add to none.
  Value end = SplatOp::create(b, loc, wide, wideSize(shape.rows.back()));
  Value inside =
      right.asRows(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, to, end).getResult());
  if (rowMask)
    inside = arith::AndIOp::create(b, loc, inside, rowMask);
  Value down = arith::MulIOp::create(
      b, loc, right.asRows(to),
      SplatOp::create(b, loc, right.asRows(to).getType(), wideSize(width)).getResult());
  Form rows{true, false}, columns{false, true}, both{true, true};
  Value start = right.spread(frame.sums.front(), {}, rows);
  Value lines = AddPtrOp::create(b, loc, start.getType(), start, down);
  lines = right.spread(lines, rows, both);
  Value places =
      AddPtrOp::create(b, loc, lines.getType(), lines, right.spread(column, columns, both));
  Value mask = right.spread(inside, rows, both);
  if (columnMask)
    mask = arith::AndIOp::create(b, loc, mask, right.spread(columnMask, columns, both));
  Value value = right.operandBlock(multiply.getRhsMutable(), b.getF32Type(), {}, rows);
  AtomicRmwOp::create(b, loc, value.getType(), AtomicKind::fadd, MemSemantic::relaxed,
                      MemScope::gpu, places, value, mask);
  func::ReturnOp::create(b, loc);
}
