//===- AsyncCopy.cpp - slots, copies by the threads, reads of buffers -----===//
//
// A product by matrix instructions wants its operands a step at a time: what it
// reads from a buffer is loaded where it is first needed, so that one step's
// registers are dead before the next but one is loaded. Everything else reads
// the whole block at once.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/MatrixAccess.h"
#include "passes/facts/SharedOperands.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/lowering/Lowering.h"
#include "passes/memory/JoinedStores.h"
#include "passes/memory/Scratch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::LinearLayout;

LogicalResult Lowering::lowerSlots(cta::SlotsOp op) {
  int64_t offset = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr).getInt();
  set(op.getResult(), {sharedAddress(offset)});
  return success();
}

LogicalResult Lowering::lowerSlot(cta::SlotOp op) {
  Location loc = op.getLoc();
  int64_t stride = llvm::alignTo(op.getType().getBytes(), cta::kSlotAlignment);
  Value skip = LLVM::MulOp::create(b, loc, getScalar(op.getIndex()), in.i32(int32_t(stride)));
  set(op.getResult(), {LLVM::AddOp::create(b, loc, getScalar(op.getSlots()), skip)});
  return success();
}

/// The bytes that a copy of a group reads: none, all, or those in front of where the mask ends.
Value Lowering::bytesRead(cta::AsyncCopyOp op, unsigned first, unsigned bytes) {
  const Registers &mask = get(op.getMask());
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

LogicalResult Lowering::lowerAsyncCopy(cta::AsyncCopyOp op) {
  const Registers &ptrs = get(op.getPtr());
  const LinearLayout &holders = cta::getLayout(op.getPtr().getType());
  cta::BufferType buffer = op.getBuffer().getType();
  LinearLayout offsets = layout::offsetsOf(holders, buffer.getLinearLayout());
  unsigned bytes = getElementBytes(buffer.getElementType()), atOnce = op.getVector() * bytes;
  Value base = bufferBase(op.getBuffer());
  Value acts = ownerPredicate(holders);
  if (op.getWhen())
    acts = andB(acts, getScalar(op.getWhen()));
  Value policy = policyOf(op);
  for (unsigned r = 0; r < ptrs.size(); r += op.getVector()) {
    Value read;
    if (op.getMask())
      read = bytesRead(op, r, bytes);
    Value to = LLVM::PtrToIntOp::create(b, op.getLoc(), b.getI32Type(),
                                        exchangeAddress(offsets, r, base, bytes));
    to = hiddenBeside(policy, to);
    in.copyAsync(to, address(ptrs[r]), atOnce, read, acts, op->hasAttr(cta::kReadByOthersAttr),
                 policy);
  }
  return success();
}

LogicalResult Lowering::lowerAsyncWait(cta::AsyncWaitOp op) {
  in.copyAsyncWait(op.getPending());
  if (op.getForProducts() && !isFencedLater(op))
    in.fenceProxyAsync();
  if (!meetsInReduction(op))
    in.barrier();
  return success();
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// True if a product takes the block apart by itself.
static bool isForProducts(cta::ReadOp op) {
  return isOnlyOperand(op.getResult(), [&](DotOp dot) {
    return dot->getBlock() == op->getBlock() && dotMethod(dot) != DotMethod::Staged;
  });
}

LogicalResult Lowering::lowerRead(cta::ReadOp op) {
  cta::BufferType buffer = op.getBuffer().getType();
  unsigned bytes = getElementBytes(buffer.getElementType());
  auto slot = op.getBuffer().getDefiningOp<cta::RingWaitOp>();
  Value reads = slot ? rings.find(slot.getRing())->second.reads : Value();
  if (!isa<RankedTensorType>(op.getType())) {
    set(op.getResult(), in.loadShared(llvmType(op.getType()), 1, bufferBase(op.getBuffer())));
    if (reads)
      noteRead(reads, get(op.getResult()));
    return success();
  }
  LinearLayout offsets = layout::offsetsOf(cta::getLayout(op.getType()), buffer.getLinearLayout());
  std::optional<layout::MatrixAccess> matrices;
  for (bool transposed : {false, true})
    if (!matrices && in.target().has(Feature::Ldmatrix))
      matrices = layout::matrixAccess(offsets, bytes, transposed);
  SharedBlock block =
      makeSharedBlock(llvmType(buffer.getElementType()), offsets, llvm::Log2_32(16 / bytes),
                      matrices ? &*matrices : nullptr, bufferBase(op.getBuffer()));
  block.reads = reads;
  if (isForProducts(op))
    sharedBlocks[op.getResult()] = std::move(block);
  else
    set(op.getResult(), loadAll(*this, block));
  return success();
}

bool Lowering::isShared(Value operand) const {
  cta::ReadOp read = readOfOperand(operand);
  return read && sharedBlocks.contains(read.getResult());
}

Value Lowering::element(Value v, unsigned reg) {
  for (auto renamed = renamedShared.find(v); renamed != renamedShared.end();
       renamed = renamedShared.find(v)) {
    reg = unsigned(renamed->second[reg]);
    v = v.getDefiningOp()->getOperand(0);
  }
  auto it = sharedBlocks.find(v);
  if (it == sharedBlocks.end())
    return get(v)[reg];
  loadInto(*this, it->second, reg);
  return it->second.registers[reg];
}
