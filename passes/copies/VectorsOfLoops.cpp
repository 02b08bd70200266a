//===- VectorsOfLoops.cpp - what loops load beside operands of products ---===//
//
// A part of tile-warpgroup-dots. In loops that TMA brings operands for, it brings
// vectors of numbers too (scales or biases of an iteration, say): registers that
// wait for memory would hold up the warps that compute. Single numbers are marked for
// the producer, if there will be one (SpecializeWarps.cpp).
//
//   %s = tile.load %ptrs, %mask       =>     %c = cta.tma_load %map[%m, %k] dims [0, -1]
//                                            %s = cta.read %c
//
//===----------------------------------------------------------------------===//
#include "passes/copies/VectorsOfLoops.h"
#include "passes/copies/CopyHints.h"
#include "passes/copies/TensorMaps.h"
#include "passes/facts/PointerRoots.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

/// A buffer of consecutive elements.
static cta::BufferType bufferOf(RankedTensorType type) {
  int32_t size = int32_t(type.getNumElements());
  SmallVector<uint64_t, 10> bits;
  for (int32_t bit = 1; bit < size; bit *= 2)
    bits.push_back(bit);
  auto image = LinearLayout::fromRows({{Dim::offset(), size}}, {{Dim::dim(0), size}}, bits);
  return cta::BufferType::get(type.getContext(), type.getShape(), type.getElementType(),
                              cta::LayoutAttr::get(type.getContext(), image));
}

static void copyVector(LoadOp load, func::FuncOp kernel, StridedAnalysis &analysis) {
  auto type = cast<RankedTensorType>(load.getType());
  // Known here and now: the launcher would do without any copies if they cannot be made.
  TileUse use;
  use.isVector = true;
  Reason reason;
  std::optional<TileAccess> tile = readTile(analysis, load.getPtr(), load.getMask(), use, reason);
  if (!tile || !tile->wraps.empty())
    return;
  Value map = tensorMapOf(kernel, *tile, type.getShape(), type.getElementType());
  if (!map)
    return;
  SmallVector<int32_t> dims;
  for (const TileAccess::Dimension &d : tile->dimensions)
    dims.push_back(d.block);
  OpBuilder b(load);
  Location loc = load.getLoc();
  SmallVector<Value> starts = startsOf(b, loc, *tile);
  auto copy = cta::TmaLoadOp::create(b, loc, bufferOf(type), map, starts, dims);
  keepHints(load, copy);
  Value read = cta::ReadOp::create(b, loc, type, copy.getResult());
  load.getResult().replaceAllUsesWith(read);
  load.erase();
}

void tile::copyBesideOperands(func::FuncOp kernel, StridedAnalysis &analysis,
                              const DenseSet<Value> &written) {
  SmallVector<LoadOp> loads;
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getBody()->getOps<cta::TmaLoadOp>().empty())
      llvm::append_range(loads, loop.getBody()->getOps<LoadOp>());
  });
  for (LoadOp load : loads) {
    // Integers may be indices, which other copies need in registers.
    Type element = getElementType(load.getType());
    if (!isa<FloatType>(element) || load.getIsVolatile() || comesFrom(load.getPtr(), written))
      continue;
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (type && type.getRank() == 1 && readsZerosOutside(load) && canKeepHints(load))
      copyVector(load, kernel, analysis);
    else if (!type && !load.getMask() && getElementBytes(element) >= 4 &&
             canKeepHints(load, getElementBytes(element)))
      load->setAttr(cta::kMayRunAheadAttr, UnitAttr::get(load.getContext()));
  }
}
