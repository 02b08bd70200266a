//===- TurnedOperands.cpp - operands that lie otherwise than they are read -===//
#include "passes/copies/TurnedOperands.h"
#include "passes/facts/KeptDimensions.h"

using namespace mlir;
using namespace tile;

Operation *tile::loadBehind(Value block) {
  if (auto reshape = block.getDefiningOp<ReshapeOp>()) {
    auto load = reshape.getSrc().getDefiningOp<DescriptorLoadOp>();
    bool onlyDrops =
        load && keptDimensions(load.getType().getShape(), reshape.getType().getShape());
    return onlyDrops ? load : nullptr;
  }
  Operation *load = block.getDefiningOp();
  return isa_and_nonnull<LoadOp, DescriptorLoadOp>(load) ? load : nullptr;
}

std::pair<Value, SmallVector<int32_t>> tile::beforeTurns(Value v) {
  SmallVector<int32_t> order{0, 1};
  while (auto trans = v.getDefiningOp<TransOp>()) {
    std::swap(order[0], order[1]);
    v = trans.getSrc();
  }
  return {v, order};
}

std::optional<unsigned> tile::contiguousDim(Operation *load, StridedAnalysis &analysis) {
  std::optional<unsigned> contiguous;
  if (isa<DescriptorLoadOp>(load))
    contiguous = 1;
  else if (auto p = analysis.pointers(load->getOperand(0)))
    for (auto [dim, stride] : llvm::enumerate(p->offset.strides))
      if (stride.asConstant() == 1)
        contiguous = unsigned(dim);
  return contiguous;
}

bool tile::isTurnedByThreads(Value v, bool isLeft, StridedAnalysis &analysis) {
  auto [source, order] = beforeTurns(v);
  Operation *load = loadBehind(source);
  if (!load || getElementBytes(cast<RankedTensorType>(v.getType()).getElementType()) == 2 ||
      load->getResult(0).getType() != source.getType())
    return false;
  std::optional<unsigned> contiguous = contiguousDim(load, analysis);
  return contiguous && order[isLeft ? 1 : 0] != int32_t(*contiguous);
}
