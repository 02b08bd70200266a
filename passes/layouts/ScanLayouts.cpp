//===- ScanLayouts.cpp - where a scan is computed --------------------------===//
#include "passes/layouts/ScanLayouts.h"
#include "ir/Kernel.h"
#include "ir/layout/Builders.h"
#include "passes/memory/Costs.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

/// `segment` elements of the axis side by side in a thread, then `along` lanes; the other
/// lanes, and warps, along the other dimensions as far as there are any.
static LinearLayout scanLayout(ArrayRef<int64_t> shape, unsigned axis, unsigned segment,
                               unsigned along, unsigned numWarps) {
  SmallVector<unsigned, 4> perThread(shape.size(), 1), lanes(perThread), warps(perThread),
      order{axis};
  for (unsigned dim = shape.size(); dim-- > 0;)
    if (dim != axis)
      order.push_back(dim);
  perThread[axis] = segment;
  lanes[axis] = along;
  unsigned lanesLeft = kLanes / along, warpsLeft = numWarps;
  for (unsigned dim : ArrayRef(order).drop_front()) {
    lanes[dim] = unsigned(std::min<int64_t>(lanesLeft, shape[dim]));
    lanesLeft /= lanes[dim];
    warps[dim] = unsigned(std::min<int64_t>(warpsLeft, shape[dim] / lanes[dim]));
    warpsLeft /= warps[dim];
  }
  lanes[axis] *= lanesLeft;
  warps[axis] = warpsLeft;
  return layout::blocked(shape, perThread, lanes, warps, order);
}

/// Layouts with more and more of the axis within a thread, its lanes few or many.
static SmallVector<LinearLayout> scanLayouts(ArrayRef<int64_t> shape, unsigned axis,
                                             unsigned numWarps) {
  int64_t elements = 1, length = shape[axis];
  for (int64_t size : shape)
    elements *= size;
  int64_t perThread = std::max<int64_t>(elements / (kLanes * numWarps), 1);
  SmallVector<LinearLayout> all;
  for (int64_t segment = 1; segment <= std::min(perThread, length); segment *= 2) {
    unsigned most = unsigned(std::min<int64_t>(kLanes, length / segment));
    unsigned fewest = unsigned(std::max<int64_t>(kLanes * length / elements, 1));
    all.push_back(scanLayout(shape, axis, unsigned(segment), most, numWarps));
    if (fewest < most)
      all.push_back(scanLayout(shape, axis, unsigned(segment), fewest, numWarps));
  }
  return all;
}

LinearLayout tile::cheapestForScan(ScanOp op, const LinearLayout &first,
                                   ArrayRef<PlacedBlock> operands, ArrayRef<PlacedBlock> results,
                                   unsigned numWarps) {
  const Target &target = targetOf(op);
  unsigned axis = op.getAxis();
  std::optional<LinearLayout> best;
  double least = 0;
  auto consider = [&](const LinearLayout &layout) {
    if (!lowering::isScannable(layout, axis))
      return;
    lowering::Cost cost = lowering::scanCost(op, layout);
    // Moving costs something: what is not cheaper without it is not with it.
    auto isTooDear = [&] { return best && cost.total(numWarps) >= least; };
    for (const PlacedBlock &operand : operands)
      if (!isTooDear())
        cost += lowering::convertCost(operand.layout, layout, operand.element, target);
    for (const PlacedBlock &result : results)
      if (!isTooDear())
        cost += lowering::convertCost(layout, result.layout, result.element, target);
    if (isTooDear())
      return;
    best = layout;
    least = cost.total(numWarps);
  };
  consider(first);
  for (const PlacedBlock &result : results)
    consider(result.layout);
  for (const LinearLayout &layout : scanLayouts(op.getInputType().getShape(), axis, numWarps))
    consider(layout);
  return *best;
}
