//===- AccessWidth.cpp ----------------------------------------------------===//
#include "passes/facts/AccessWidth.h"
#include "ir/Kernel.h"
#include "ir/TileDialect.h"
#include "passes/facts/MaskRuns.h"

using namespace mlir;
using namespace tile;

Accessed Accessed::by(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return {load.getPtr(), load.getMask()};
  if (auto store = dyn_cast<StoreOp>(op))
    return {store.getPtr(), store.getMask()};
  if (auto rmw = dyn_cast<AtomicRmwOp>(op))
    return {rmw.getPtr(), rmw.getMask()};
  if (auto cas = dyn_cast<AtomicCasOp>(op))
    return {cas.getPtr(), nullptr};
  return {};
}

bool tile::addsNeighbours(Operation *op) {
  auto rmw = dyn_cast<AtomicRmwOp>(op);
  if (!rmw || rmw.getKind() != AtomicKind::fadd || !rmw.getResult().use_empty())
    return false;
  Type type = getElementTypeOrSelf(rmw.getValue().getType());
  return (type.isF32() || type.isF16() || type.isBF16()) &&
         targetOf(op).has(Feature::VectorAtomics);
}

Value tile::believedPointer(const Accessed &access, unsigned axis, AxisInfoAnalysis &axes) {
  Value ptr = access.ptr;
  auto bytes = [&](HintOp hint) {
    return hint.getDivisibility() ? hint.getDivisibility()->back() : int64_t(1);
  };
  auto type = cast<PtrType>(getElementTypeOrSelf(ptr.getType()));
  for (auto hint = ptr.getDefiningOp<HintOp>(); hint && access.mask;
       hint = ptr.getDefiningOp<HintOp>()) {
    if (axes.get(access.mask).constancy(axis) * getElementBytes(type.getPointee()) >= bytes(hint))
      break;
    ptr = hint.getSrc();
  }
  return ptr;
}

int64_t tile::neighboursAtOnce(Operation *op, unsigned axis, AxisInfoAnalysis &axes,
                               bool isCopied) {
  if (isa<AtomicRmwOp, AtomicCasOp>(op) && !addsNeighbours(op))
    return 1;
  Accessed access = Accessed::by(op);
  auto type = cast<RankedTensorType>(access.ptr.getType());
  int64_t bytes = getElementBytes(cast<PtrType>(type.getElementType()).getPointee());
  const AxisInfo info = axes.get(believedPointer(access, axis, axes));
  int64_t most = std::min<int64_t>(
      {info.contiguity(axis), info.divisibility(axis) / bytes, kVectorBytes / bytes});
  if (access.mask) {
    // A group that is not all true is taken apart, one instruction more than single elements
    // are; where these fill lines as it does, as few requests are no gain.
    bool isWhole = isa<AtomicRmwOp>(op) || kLanes * bytes > kLineBytes;
    MaskPart part = isCopied ? MaskPart::Start : MaskPart::Interval;
    most = std::min(most, isWhole ? axes.get(access.mask).constancy(axis)
                                  : maskRun(access.mask, axis, part, axes));
  }
  return std::max<int64_t>(most, 1);
}
