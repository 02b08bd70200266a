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
// share one area behind the ring; those that follow each other in a loop lie
// side by side there as far as that stays small, so that each iteration needs
// only the barriers inside the ops.
//
// Behind these, aligned to the period of the swizzles: one area for all
// `cta.tma_store`, places for `cta.stage` by liveness, and the rings. These get as
// many slots as were asked for and fit; the area of the stores is as large as a
// whole block where that leaves room for them, and else what is staged in parts.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/Hopper.h"
#include "ir/layout/Swizzle.h"
#include "passes/Passes.h"
#include "passes/lowering/Scratch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

namespace {
/// Buffers up to this size take turns; the ring is a few of them.
constexpr int64_t kSmallBuffer = 1024;
constexpr int64_t kRingBytes = 4096;
/// Large buffers of one loop body that lie side by side.
constexpr int64_t kLoopBytes = 40 << 10;
/// Swizzle patterns are anchored at multiples of this.
constexpr int64_t kSwizzlePeriod = 1024;
/// What a thread block can have on the targets that have rings (sm_90).
constexpr int64_t kMaxSharedBytes = 232448;
} // namespace

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

int64_t lowering::ringBytes(cta::RingOp op) {
  int64_t slot = 0;
  for (Type type : op.getType().getBuffers())
    slot += llvm::alignTo(cast<cta::BufferType>(type).getBytes(), kSwizzlePeriod);
  return llvm::alignTo((slot + 16) * op.getStages(), kSwizzlePeriod);
}

int64_t lowering::mostStoreParts(cta::TmaStoreOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  const layout::LinearLayout &image = op.getLayout().getLayout();
  layout::LinearLayout offsets = layout::offsetsOf(cta::getLayout(type), image);
  unsigned bytes = getElementBytes(type.getElementType());
  std::optional<unsigned> minor = layout::minorOfSwizzledTile(image, bytes);
  if (!minor)
    return 1;
  int64_t minorBytes = type.getDimSize(*minor) * bytes;
  int64_t columns = minorBytes / layout::swizzleSpan(minorBytes), parts = 1;
  // The highest bits of the offset say in which column of boxes an element is.
  for (int bit = offsets.totalOutSizeLog2() - 1; parts < columns; --bit, parts *= 2) {
    unsigned moving = llvm::count_if(offsets.rows(), [&](uint64_t r) { return r >> bit & 1; });
    if (moving != 1 || !llvm::is_contained(offsets.rows(layout::Dim::reg()), 1ull << bit))
      break;
  }
  return parts;
}

int64_t lowering::scratchBytes(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduceScratchBytes(reduce);
  if (auto scan = dyn_cast<ScanOp>(op))
    return scanScratchBytes(scan);
  if (auto convert = dyn_cast<cta::ConvertLayoutOp>(op))
    return convertScratchBytes(convert);
  if (auto dot = dyn_cast<DotOp>(op))
    return dotScratchBytes(dot);
  if (isa<AtomicRmwOp, AtomicCasOp>(op))
    return atomicScratchBytes(op);
  return elementScratchBytes(op);
}

int64_t lowering::printedBytes(Value operand) {
  auto block = dyn_cast<RankedTensorType>(operand.getType());
  if (!block)
    return 0;
  int64_t printed = std::min(block.getNumElements(), kMaxPrinted);
  return llvm::alignTo(printed * getElementBytes(block.getElementType()), 16);
}

int64_t lowering::elementScratchBytes(Operation *op) {
  if (auto gather = dyn_cast<GatherOp>(op)) {
    auto src = cast<RankedTensorType>(gather.getSrc().getType());
    return llvm::alignTo(src.getNumElements() * getElementBytes(src.getElementType()), 16);
  }
  if (auto histogram = dyn_cast<HistogramOp>(op))
    return llvm::alignTo(histogram.getType().getNumElements() * 4, 16);
  int64_t bytes = 0;
  if (auto print = dyn_cast<PrintOp>(op))
    for (Value operand : print.getOperands_())
      bytes += printedBytes(operand);
  return bytes;
}

namespace {
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
    llvm::DenseMap<Block *, int64_t> taken; // by loop bodies
    for (auto &[op, bytes] : large) {
      int64_t offset = 0;
      if (isa<LoopLikeOpInterface>(op->getParentOp())) {
        int64_t &end = taken[op->getBlock()];
        offset = end + bytes <= std::max(kLoopBytes, bytes) ? end : 0;
        end = offset + bytes;
      }
      op->setAttr(cta::kScratchOffsetAttr, b.getI32IntegerAttr(ring + offset));
      largest = std::max(largest, offset + bytes);
    }
    // 3. Buffers of the asynchronous unit.
    int64_t end = placeStages(ring + largest);
    end = placeStoresAndRings(end);
    getOperation()->setAttr(cta::kSharedBytesAttr, b.getI32IntegerAttr(end));
  }

  /// Staged operands: each the lowest place that no other has while it lives.
  int64_t placeStages(int64_t from) {
    int64_t begin = llvm::alignTo(from, kSwizzlePeriod);
    llvm::DenseMap<Operation *, unsigned> position;
    unsigned count = 0;
    getOperation().walk<WalkOrder::PostOrder>([&](Operation *op) { position[op] = count++; });
    struct Placed {
      int64_t begin, end;
      unsigned first, last;
    };
    SmallVector<Placed> placed;
    int64_t end = begin;
    Builder b(&getContext());
    getOperation().walk([&](cta::StageOp op) {
      Placed own{begin, begin + op.getType().getBytes(), position[op], position[op]};
      for (Operation *user : op->getUsers())
        if (Operation *here = op->getBlock()->findAncestorOpInBlock(*user))
          own.last = std::max(own.last, position[here]);
      for (bool moved = true; moved;) {
        moved = false;
        for (const Placed &p : placed) {
          bool alive = p.first <= own.last && own.first <= p.last;
          if (!alive || p.end <= own.begin || own.end <= p.begin)
            continue;
          own.end += llvm::alignTo(p.end, kSwizzlePeriod) - own.begin;
          own.begin = llvm::alignTo(p.end, kSwizzlePeriod);
          moved = true;
        }
      }
      op->setAttr(cta::kScratchOffsetAttr, b.getI32IntegerAttr(own.begin));
      end = std::max(end, own.end);
      placed.push_back(own);
    });
    return placed.empty() ? from : end;
  }

  /// The area of the stores, then the rings: the slots' buffers, then the two
  /// barriers of each slot. The ring with most slots gives one up until all fit
  /// beside the smallest area.
  int64_t placeStoresAndRings(int64_t end) {
    SmallVector<cta::TmaStoreOp> stores;
    SmallVector<cta::RingOp> rings;
    getOperation().walk([&](cta::TmaStoreOp op) { stores.push_back(op); });
    getOperation().walk([&](cta::RingOp op) { rings.push_back(op); });
    if (stores.empty() && rings.empty())
      return end;
    end = llvm::alignTo(end, kSwizzlePeriod);
    auto total = [&](unsigned level) {
      int64_t sum = llvm::alignTo(end + storeBytes(stores, level), kSwizzlePeriod);
      for (cta::RingOp op : rings)
        sum += lowering::ringBytes(op);
      return sum;
    };
    constexpr unsigned kMostLevels = 6; // more would save next to nothing
    while (total(kMostLevels) > kMaxSharedBytes && takeSlot(rings)) {
    }
    unsigned level = 0;
    while (level < kMostLevels && total(level) > kMaxSharedBytes)
      ++level;

    Builder b(&getContext());
    for (cta::TmaStoreOp op : stores) {
      op->setAttr(cta::kScratchOffsetAttr, b.getI32IntegerAttr(end));
      if (unsigned own = std::min(level, mostLevels(op)))
        op->setAttr(lowering::kStorePartsAttr, b.getI32IntegerAttr(2 << own));
    }
    end += storeBytes(stores, level);
    if (!rings.empty())
      end = llvm::alignTo(end, kSwizzlePeriod);
    for (cta::RingOp op : rings) {
      op->setAttr(cta::kScratchOffsetAttr, b.getI32IntegerAttr(end));
      end += lowering::ringBytes(op);
    }
    return end;
  }

  /// How often the staging area of `op` can be halved: two parts stay in it.
  static unsigned mostLevels(cta::TmaStoreOp op) {
    return std::max<unsigned>(llvm::Log2_64(lowering::mostStoreParts(op)), 1) - 1;
  }

  /// What stores need if those that can be are staged in 2 << `level` parts.
  static int64_t storeBytes(ArrayRef<cta::TmaStoreOp> stores, unsigned level) {
    int64_t most = 0;
    for (cta::TmaStoreOp op : stores) {
      auto type = cast<RankedTensorType>(op.getValue().getType());
      int64_t whole = type.getNumElements() * int64_t(getElementBytes(type.getElementType()));
      most = std::max(most, whole >> std::min(level, mostLevels(op)));
    }
    return most;
  }

  /// Takes a slot from the ring that has most; false if that one needs all.
  static bool takeSlot(ArrayRef<cta::RingOp> rings) {
    if (rings.empty())
      return false;
    cta::RingOp most = *llvm::max_element(
        rings, [](cta::RingOp x, cta::RingOp y) { return x.getStages() < y.getStages(); });
    // Consumers that give slots back late hold one while they wait for another.
    bool late = llvm::any_of(most->getUsers(),
                             [](Operation *user) { return isa<cta::RingAdvanceOp>(user); });
    if (most.getStages() == (late ? 2u : 1u))
      return false;
    most.setStages(most.getStages() - 1);
    return true;
  }
};
} // namespace

std::unique_ptr<Pass> tile::createAllocateScratchPass() {
  return std::make_unique<AllocateScratchPass>();
}
