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

namespace {

/// A program takes a block of the right operand's rows and columns.
class ScatterKernel {
public:
  ScatterKernel(const KernelShape &shape, const Cut &cut, ModuleOp module)
      : shape(shape), product(*shape.product), cut(cut), frame(shape, cut, module),
        left(frame, product.left, 1, cut.inner), right(frame, product.right, cut.inner, cut.block),
        b(frame.b), loc(frame.loc) {}
  void run();

private:
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  Value number(int64_t value) { return frame.number(frame.index, value); }
  Value wideSize(const Size &size);
  void findBlock();
  Value rowsInResult();
  Value places(Value rows);

  const KernelShape &shape;
  const ProductShape &product;
  const Cut &cut;
  KernelFrame frame;
  /// The left operand's columns are the right one's rows: one line of numbers.
  BlockEmitter left, right;
  OpBuilder &b;
  Location loc;
  Value column, rowMask, columnMask; ///< masks: null if all are there
  static constexpr Form kRows{true, false}, kColumns{false, true}, kBoth{true, true};
};

} // namespace

Value ScatterKernel::wideSize(const Size &size) {
  Value value = frame.sizeValue(size);
  Type type = b.getI64Type();
  return value.getType() == type ? value : make<arith::ExtSIOp>(type, value);
}

void ScatterKernel::findBlock() {
  Value program = make<ProgramIdOp>(b.getI32Type(), 0u);
  if (cut.wide)
    program = make<arith::ExtSIOp>(frame.index, program);
  const Size &width = shape.columns.back();
  Value up = make<arith::AddIOp>(frame.sizeValue(width), number(cut.block - 1));
  Value across = make<arith::DivSIOp>(up, number(cut.block));
  Value first = make<arith::MulIOp>(make<arith::DivSIOp>(program, across), number(cut.inner));
  Value start = make<arith::MulIOp>(make<arith::RemSIOp>(program, across), number(cut.block));
  Value line = frame.range(cut.inner, first), row = right.asRows(line);
  column = right.asColumns(frame.range(cut.block, start));
  rowMask = cut.evenInner ? Value() : right.below(row, product.inner);
  columnMask = cut.evenColumns ? Value() : right.below(column, width);
  left.setRows(number(0), {}, {number(0)});
  left.setColumns(line, cut.evenInner ? Value() : left.below(line, product.inner), line);
  right.setRows(row, rowMask, row);
  right.setColumns(column, columnMask, column);
}

/// Which rows of the result those of the block are added to, in 64 bits.
Value ScatterKernel::rowsInResult() {
  OpOperand *at = rowsAddedTo(shape);
  Form form;
  Value rows = left.get(*at, form);
  Type wide = withElementType(rows.getType(), b.getI64Type());
  if (rows.getType() == wide)
    return right.asRows(rows);
  bool isNatural = cast<GraphTensorType>(at->get().getType()).getElement().isUnsignedInteger();
  return right.asRows(isNatural ? make<arith::ExtUIOp>(wide, rows)
                                : make<arith::ExtSIOp>(wide, rows));
}

/// Where the block's elements are added.
Value ScatterKernel::places(Value rows) {
  Value width = make<SplatOp>(rows.getType(), wideSize(shape.columns.back()));
  Value start = right.spread(frame.sums.front(), {}, kRows);
  Value lines = make<AddPtrOp>(start.getType(), start, make<arith::MulIOp>(rows, width));
  lines = right.spread(lines, kRows, kBoth);
  return make<AddPtrOp>(lines.getType(), lines, right.spread(column, kColumns, kBoth));
}

void ScatterKernel::run() {
  findBlock();
  Value rows = rowsInResult();
  // Numbers of no row, negative ones too, add to none.
  Value end = make<SplatOp>(rows.getType(), wideSize(shape.rows.back()));
  Value inside = make<arith::CmpIOp>(arith::CmpIPredicate::ult, rows, end);
  if (rowMask)
    inside = make<arith::AndIOp>(inside, rowMask);
  Value mask = right.spread(inside, kRows, kBoth);
  if (columnMask)
    mask = make<arith::AndIOp>(mask, right.spread(columnMask, kColumns, kBoth));
  MatmulOp multiply = product.op;
  Value added = right.operandBlock(multiply.getRhsMutable(), b.getF32Type(), {}, kRows);
  make<AtomicRmwOp>(added.getType(), AtomicKind::fadd, MemSemantic::relaxed, MemScope::gpu,
                    places(rows), added, mask);
  func::ReturnOp::create(b, loc);
}

void tile::graph::emitScatter(const KernelShape &shape, const Cut &cut, ModuleOp module) {
  ScatterKernel(shape, cut, module).run();
}
