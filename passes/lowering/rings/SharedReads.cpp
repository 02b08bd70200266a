//===- SharedReads.cpp - blocks that are read from buffers ----------------===//
#include "passes/lowering/rings/SharedReads.h"
#include "ir/Attributes.h"
#include "ir/layout/MatrixAccess.h"
#include "passes/facts/SharedOperands.h"
#include "passes/layouts/DotLayouts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::LinearLayout;

/// True if a product takes the block apart by itself.
static bool isForProducts(cta::ReadOp op) {
  return !op->hasAttr(cta::kHeldAttr) && isOnlyOperand(op.getResult(), [&](DotOp dot) {
    return dot->getBlock() == op->getBlock() && dotMethod(dot) != DotMethod::Staged;
  });
}

void SharedReads::lower(cta::ReadOp op) {
  cta::BufferType buffer = op.getBuffer().getType();
  unsigned bytes = getElementBytes(buffer.getElementType());
  auto slot = op.getBuffer().getDefiningOp<cta::RingWaitOp>();
  Value reads = slot ? rings.readsOf(slot.getRing()) : Value();
  if (!isa<RankedTensorType>(op.getType())) {
    core.set(op.getResult(),
             in.loadShared(core.llvmType(op.getType()), 1, core.bufferBase(op.getBuffer())));
    if (reads)
      core.noteRead(reads, core.get(op.getResult()));
    return;
  }
  LinearLayout offsets = layout::offsetsOf(cta::getLayout(op.getType()), buffer.getLinearLayout());
  std::optional<layout::MatrixAccess> matrices;
  for (bool transposed : {false, true})
    if (!matrices && in.target().has(Feature::Ldmatrix))
      matrices = layout::matrixAccess(offsets, bytes, transposed);
  SharedBlock block =
      makeSharedBlock(core.llvmType(buffer.getElementType()), offsets, llvm::Log2_32(16 / bytes),
                      matrices ? &*matrices : nullptr, core.bufferBase(op.getBuffer()));
  block.reads = reads;
  if (isForProducts(op))
    blocks[op.getResult()] = std::move(block);
  else
    core.set(op.getResult(), loadAll(core, block));
}

bool SharedReads::isShared(Value operand) const {
  cta::ReadOp read = readOfOperand(operand);
  return read && blocks.contains(read.getResult());
}

Value SharedReads::element(Value v, unsigned reg) {
  for (auto name = renamed.find(v); name != renamed.end(); name = renamed.find(v)) {
    reg = unsigned(name->second[reg]);
    v = v.getDefiningOp()->getOperand(0);
  }
  auto it = blocks.find(v);
  if (it == blocks.end())
    return core.get(v)[reg];
  loadInto(core, it->second, reg);
  return it->second.registers[reg];
}
