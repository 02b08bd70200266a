//===- DotLayouts.cpp - who holds the operands of a matrix product --------===//
#include "passes/DotLayouts.h"
#include "ir/layout/Builders.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

DotLayouts tile::scalarDotLayouts(const LinearLayout &acc, int64_t depth) {
  unsigned rank = acc.outs().size();
  auto operand = [&](unsigned dropped) {
    LinearLayout kept = layout::expandDims(layout::sliceAxis(acc, dropped), dropped);
    // The inner dimension takes the place of the one that the operand lacks.
    LinearLayout inner = LinearLayout::identity1D(int32_t(depth), Dim::reg(), Dim::dim(dropped));
    return kept * inner;
  };
  return {operand(rank - 1), operand(rank - 2), acc};
}

/// A tile of 4 by 4 elements a thread, lanes and warps in squares: each operand
/// element read serves four products.
static LinearLayout scalarAccumulator(ArrayRef<int64_t> shape, unsigned numWarps) {
  unsigned rank = shape.size();
  SmallVector<unsigned> perThread(rank, 1), lanes(rank, 1), warps(rank, 1), order;
  perThread[rank - 1] = perThread[rank - 2] = 4;
  lanes[rank - 1] = 8;
  lanes[rank - 2] = 4;
  unsigned rows = 1;
  while (rows * rows * 2 <= numWarps && rows * 16 < shape[rank - 2])
    rows *= 2;
  warps[rank - 2] = rows;
  warps[rank - 1] = numWarps / rows;
  for (unsigned i = 0; i < rank; ++i)
    order.push_back(rank - 1 - i);
  return layout::blocked(shape, perThread, lanes, warps, order);
}

DotLayouts tile::chooseDotLayouts(DotOp op, unsigned numWarps) {
  return scalarDotLayouts(scalarAccumulator(op.getType().getShape(), numWarps),
                          op.getA().getType().getShape().back());
}
