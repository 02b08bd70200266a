//===- ScanShape.cpp - how the axis of a scan is spread, what that takes --===//
#include "passes/memory/ScanShape.h"
#include "ir/Kernel.h"
#include "passes/memory/Costs.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

ScanShape lowering::scanShape(const LinearLayout &layout, unsigned axis) {
  ScanShape s;
  unsigned size = layout.outSizeLog2(Dim::dim(axis));
  SmallVector<int> owner(size, -1); // 0 register, 1 lane, 2 warp
  unsigned laneMask = axisBits(layout, Dim::lane(), axis);
  s.warpMask = axisBits(layout, Dim::warp(), axis);
  int previousLane = -1, previousWarp = -1;
  const Dim dims[] = {Dim::reg(), Dim::lane(), Dim::warp()};
  for (auto [kind, dim] : llvm::enumerate(dims))
    for (int32_t bit = 0; bit < layout.inSizeLog2(dim); ++bit) {
      const layout::Basis &basis = layout.basis(dim, bit);
      int32_t along = basis[axis];
      if (!along)
        continue;
      for (auto [other, v] : llvm::enumerate(basis))
        if (other != axis && v)
          return s;
      if (!llvm::isPowerOf2_32(along) || owner[llvm::Log2_32(along)] != -1)
        return s;
      int position = llvm::Log2_32(along);
      owner[position] = int(kind);
      int &previous = kind == 1 ? previousLane : previousWarp;
      if (kind > 0) { // increasing, so that lane order is axis order
        if (previous > position)
          return s;
        previous = position;
      }
    }
  unsigned p = 0;
  auto take = [&](int kind) {
    unsigned n = 0;
    while (p < size && owner[p] == kind)
      ++p, ++n;
    return n;
  };
  s.segmentBits = take(0);
  s.laneBits = take(1);
  s.warpBits = take(2);
  s.repeatBits = take(0);
  if (!s.laneBits && !s.warpBits) {
    s.segmentBits += s.repeatBits;
    s.repeatBits = 0;
  }
  if (s.laneBits) {
    s.firstLaneBit = llvm::countr_zero(laneMask);
    if (laneMask >> s.firstLaneBit != (1u << s.laneBits) - 1)
      return s; // the lanes of the axis are not neighbours
  }
  s.valid = p == size;
  return s;
}

bool lowering::isScannable(const LinearLayout &layout, unsigned axis) {
  return scanShape(layout, axis).valid;
}

Cost lowering::scanCost(ScanOp op, const LinearLayout &layout) {
  ScanShape s = scanShape(layout, op.getAxis());
  const Tuning &tuning = tuningOf(op);
  double values = double(op.getSrcs().size()), combine = 0;
  for (Operation &inner : op.getCombineBlock())
    combine += inner.hasTrait<OpTrait::IsTerminator>() ? 0 : 1;
  combine = std::max(combine, 1.0);
  double registers = layout.inSize(Dim::reg()), segment = 1 << s.segmentBits,
         repeats = 1 << s.repeatBits, parts = registers / segment;
  Cost cost;
  // 1. Each segment; the first element is there.
  cost.instructions += (registers - parts) * combine;
  cost.cycles += (segment - 1) * combine * tuning.resultCycles;
  // 2. Lanes: a shuffle, a combination and a select a step; the carry and the total. That segments
  // of one element have no carry is not counted: what wins by it takes more instructions.
  if (s.laneBits) {
    cost.instructions += parts * (s.laneBits * (combine + 2 * values) + 2 * values);
    cost.wavefronts += parts * (s.laneBits + 2) * values;
    cost.cycles += (s.laneBits + 1) * (tuning.shuffleCycles + (combine + 1) * tuning.resultCycles);
  }
  // 3. Each thread folds what all warps have left, and picks its own.
  if (s.warpBits) {
    double entries = parts * (1 << s.warpBits);
    cost.instructions += parts * values + entries * (combine + 2 * values);
    cost.wavefronts += (parts + entries) * values;
    cost.cycles +=
        tuning.exchangeCycles + repeats * (1 << s.warpBits) * combine * tuning.resultCycles;
  } else if (repeats > 1) {
    cost.instructions += parts * combine;
    cost.cycles += repeats * combine * tuning.resultCycles;
  }
  // 4. What came before, into each element.
  if (s.laneBits || s.warpBits)
    cost.instructions += registers * (combine + values);
  return cost;
}

int64_t lowering::scanOperandBytes(ScanOp op, const ScanShape &s, Value src) {
  int64_t others = op.getInputType().getNumElements() / op.getInputType().getDimSize(op.getAxis());
  int64_t entries = others << (s.repeatBits + s.warpBits);
  return llvm::alignTo(entries * std::max(getElementBytes(getElementType(src.getType())), 1u), 16);
}

int64_t lowering::scanScratchBytes(ScanOp op) {
  ScanShape s = scanShape(cta::getLayout(op.getSrcs()[0].getType()), op.getAxis());
  if (!s.warpBits)
    return 0;
  int64_t bytes = 0;
  for (Value src : op.getSrcs())
    bytes += scanOperandBytes(op, s, src);
  return bytes;
}
