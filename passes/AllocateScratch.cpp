//===- AllocateScratch.cpp - place exchange buffers in shared memory ------===//
//
// Needs:      a laid-out kernel.
// Guarantees: every op that exchanges data between warps carries
//             `cta.scratch_offset`; the module carries `cta.shared_bytes`.
// Never:      moves or changes ops.
//
// A buffer lives only while its op runs, so all could share offset 0. But
// neighbours that share need a barrier between them. Small buffers therefore
// take turns in a ring: by the time an offset comes round again, the barriers
// inside the ops in between have already separated the two uses. Large ones
// share one area behind the ring.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/lowering/Scratch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

int64_t lowering::atomicScratchBytes(Operation *op) {
  if (!isa<AtomicRmwOp, AtomicCasOp>(op) || op->getResult(0).use_empty())
    return 0;
  Type type = op->getResult(0).getType();
  int64_t elements = 1;
  if (auto block = dyn_cast<RankedTensorType>(type)) {
    elements = block.getNumElements();
    bool copies = false;
    for (auto [dim, free] : cta::getLayout(block).freeVariableMasks())
      copies |= dim != layout::Dim::reg() && free != 0;
    if (!copies)
      return 0;
  }
  return llvm::alignTo(elements * getElementBytes(getElementType(type)), 16);
}

int64_t lowering::scratchBytes(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduceScratchBytes(reduce);
  if (auto scan = dyn_cast<ScanOp>(op))
    return scanScratchBytes(scan);
  if (auto convert = dyn_cast<cta::ConvertLayoutOp>(op))
    return convertScratchBytes(convert);
  return atomicScratchBytes(op);
}

namespace {
/// Buffers up to this size take turns; the ring is a few of them.
constexpr int64_t kSmallBuffer = 1024;
constexpr int64_t kRingBytes = 4096;

struct AllocateScratchPass : PassWrapper<AllocateScratchPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AllocateScratchPass)
  StringRef getArgument() const override { return "tile-allocate-scratch"; }
  StringRef getDescription() const override { return "place exchange buffers in shared memory"; }

  void runOnOperation() override {
    // 1. Small buffers go round the ring; remember the large ones.
    SmallVector<std::pair<Operation *, int64_t>> large;
    int64_t next = 0, ring = 0, largest = 0;
    Builder b(&getContext());
    getOperation().walk([&](Operation *op) {
      int64_t bytes = lowering::scratchBytes(op);
      if (!bytes)
        return;
      if (bytes > kSmallBuffer) {
        large.push_back({op, bytes});
        largest = std::max(largest, bytes);
        return;
      }
      if (next + bytes > kRingBytes)
        next = 0;
      op->setAttr(cta::kScratchOffsetAttr, b.getI32IntegerAttr(next));
      next += bytes;
      ring = std::max(ring, next);
    });
    // 2. Large buffers share what follows.
    for (auto &[op, bytes] : large)
      op->setAttr(cta::kScratchOffsetAttr, b.getI32IntegerAttr(ring));
    getOperation()->setAttr(cta::kSharedBytesAttr, b.getI32IntegerAttr(ring + largest));
  }
};
} // namespace

std::unique_ptr<Pass> tile::createAllocateScratchPass() {
  return std::make_unique<AllocateScratchPass>();
}
