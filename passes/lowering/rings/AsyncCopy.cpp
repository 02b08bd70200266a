//===- AsyncCopy.cpp - copies to shared memory by the threads -------------===//
#include "passes/lowering/rings/AsyncCopy.h"
#include "ir/layout/Swizzle.h"
#include "passes/memory/JoinedStores.h"
#include "passes/memory/Scratch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::LinearLayout;

void AsyncCopies::lower(cta::SlotsOp op) {
  int64_t offset = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr).getInt();
  core.set(op.getResult(), {core.sharedAddress(offset)});
}

void AsyncCopies::lower(cta::SlotOp op) {
  Location loc = op.getLoc();
  int64_t stride = slotStride(op.getType());
  Value skip = LLVM::MulOp::create(b, loc, core.getScalar(op.getIndex()), in.i32(int32_t(stride)));
  core.set(op.getResult(), {LLVM::AddOp::create(b, loc, core.getScalar(op.getSlots()), skip)});
}

/// The bytes that a copy of a group reads: none, all, or those in front of where the mask ends.
Value AsyncCopies::bytesRead(cta::AsyncCopyOp op, unsigned first, unsigned bytes) {
  const Registers &mask = core.get(op.getMask());
  auto attr = op->getAttrOfType<IntegerAttr>(cta::kMaskRunAttr);
  unsigned run = attr ? unsigned(attr.getInt()) : op.getVector();
  Value sum;
  for (unsigned r = first; r < first + op.getVector(); r += run) {
    Value part =
        LLVM::SelectOp::create(b, op.getLoc(), mask[r], in.i32(int32_t(run * bytes)), in.i32(0));
    sum = sum ? LLVM::AddOp::create(b, op.getLoc(), sum, part).getResult() : part;
  }
  return sum;
}

void AsyncCopies::lower(cta::AsyncCopyOp op) {
  const Registers &ptrs = core.get(op.getPtr());
  const LinearLayout &holders = cta::getLayout(op.getPtr().getType());
  cta::BufferType buffer = op.getBuffer().getType();
  LinearLayout offsets = layout::offsetsOf(holders, buffer.getLinearLayout());
  unsigned bytes = getElementBytes(buffer.getElementType()), atOnce = op.getVector() * bytes;
  Value base = core.bufferBase(op.getBuffer());
  Value acts = core.ownerPredicate(holders);
  if (op.getWhen())
    acts = core.andB(acts, core.getScalar(op.getWhen()));
  Value policy = core.policyOf(op);
  for (unsigned r = 0; r < ptrs.size(); r += op.getVector()) {
    Value read;
    if (op.getMask())
      read = bytesRead(op, r, bytes);
    Value to = LLVM::PtrToIntOp::create(b, op.getLoc(), b.getI32Type(),
                                        core.exchangeAddress(offsets, r, base, bytes));
    to = core.hiddenBeside(policy, to);
    in.copyAsync(to, core.address(ptrs[r]), atOnce, read, acts, op->hasAttr(cta::kReadByOthersAttr),
                 policy);
  }
}

void AsyncCopies::lower(cta::AsyncWaitOp op) {
  in.copyAsyncWait(op.getPending());
  if (op.getForProducts() && !isFencedLater(op))
    in.fenceProxyAsync();
  if (!meetsInReduction(op))
    in.barrier();
}
