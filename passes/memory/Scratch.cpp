//===- Scratch.cpp - shared memory an op needs while it runs --------------===//
#include "passes/memory/Scratch.h"
#include "ir/CtaSlots.h"
#include "ir/Kernel.h"
#include "ir/Printing.h"
#include "ir/layout/Swizzle.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/facts/Branches.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Swizzle patterns are anchored at multiples of this.
static constexpr int64_t kSwizzlePeriod = cta::kSlotAlignment;

int64_t lowering::maxSharedBytes(ModuleOp module) { return targetOf(module).maxSharedBytes; }

bool lowering::needsOneReader(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return isa<AtomicRmwOp, AtomicCasOp>(op) || (load && load.getIsVolatile());
}

bool lowering::meetsInReduction(cta::AsyncWaitOp wait) {
  auto reduce = dyn_cast_if_present<ReduceOp>(wait->getNextNode());
  return reduce && !wait.getForProducts() && scratchBytes(reduce) > 0;
}

int64_t lowering::oneReaderScratchBytes(Operation *op) {
  if (op->getResult(0).use_empty())
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

int64_t lowering::slotBytes(cta::RingType ring, int64_t stages) {
  return cta::bytesInSlot(ring.getBuffers()) * stages;
}

int64_t lowering::barrierBytes(int64_t stages, unsigned groups) {
  return 16 * stages + (groups > 1 ? 8 : 0);
}

int64_t lowering::ringBytes(cta::RingType ring, int64_t stages, unsigned groups) {
  return llvm::alignTo(slotBytes(ring, stages) + barrierBytes(stages, groups), kSwizzlePeriod);
}

int64_t lowering::bytesOfRings(ArrayRef<cta::RingOp> rings,
                               llvm::function_ref<int64_t(cta::RingOp)> stages) {
  SmallVector<int64_t> bytes;
  for (cta::RingOp ring : rings)
    bytes.push_back(ringBytes(ring.getType(), stages(ring)));
  int64_t end = 0;
  placesOf(
      bytes, [&](size_t i, size_t j) { return areUsedInOtherBranches(rings[i], rings[j]); }, end);
  return end;
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

int64_t lowering::slotAlignment(cta::BufferType buffer) {
  constexpr int64_t kCopyUnit = 16;
  return std::clamp(int64_t(llvm::PowerOf2Ceil(buffer.getBytes())), kCopyUnit, kSwizzlePeriod);
}

int64_t lowering::slotStride(cta::BufferType buffer) {
  return llvm::alignTo(buffer.getBytes(), slotAlignment(buffer));
}

int64_t lowering::bufferAlignment(Operation *op) {
  auto slots = dyn_cast<cta::SlotsOp>(op);
  return slots ? slotAlignment(slots.getType()) : kSwizzlePeriod;
}

int64_t lowering::bufferBytes(Operation *op) {
  auto buffer = cast<cta::BufferType>(op->getResult(0).getType());
  auto slots = dyn_cast<cta::SlotsOp>(op);
  return slots ? slotStride(buffer) * slots.getCount() : buffer.getBytes();
}

namespace {
/// Slots, and the first and the last operation of their block between which something is in them.
struct UsedSlots {
  cta::SlotsOp slots;
  Operation *first, *last;

  explicit UsedSlots(cta::SlotsOp slots) : slots(slots), first(slots), last(slots) {
    Block *block = slots->getBlock();
    bool isUsed = false;
    SmallVector<Value> open{slots.getResult()};
    while (!open.empty())
      for (Operation *user : open.pop_back_val().getUsers()) {
        Operation *giver = isa<scf::YieldOp>(user) ? user->getParentOp() : user;
        if (giver->isProperAncestor(slots))
          continue;
        llvm::copy_if(giver->getResults(), std::back_inserter(open),
                      [](Value v) { return isa<cta::BufferType>(v.getType()); });
        Operation *at = block->findAncestorOpInBlock(*user);
        if (!at)
          continue;
        first = !isUsed || at->isBeforeInBlock(first) ? at : first;
        last = !isUsed || last->isBeforeInBlock(at) ? at : last;
        isUsed = true;
      }
  }

  bool isInUseAt(Operation *op) const {
    return op->getBlock() != first->getBlock() ||
           !(op->isBeforeInBlock(first) || last->isBeforeInBlock(op));
  }
};
} // namespace

/// Loops one after the other share their memory.
static int64_t bytesOfSlots(ArrayRef<UsedSlots> all) {
  int64_t most = 0;
  for (const UsedSlots &own : all) {
    int64_t bytes = 0;
    for (const UsedSlots &other : all)
      bytes += other.isInUseAt(own.first) ? lowering::bufferBytes(other.slots) : 0;
    most = std::max(most, bytes);
  }
  return most;
}

int64_t lowering::bytesOfCopies(ModuleOp module) {
  SmallVector<UsedSlots> used;
  SmallVector<cta::RingOp> rings;
  module.walk([&](Operation *op) {
    if (auto ring = dyn_cast<cta::RingOp>(op))
      rings.push_back(ring);
    if (auto slots = dyn_cast<cta::SlotsOp>(op))
      used.emplace_back(slots);
  });
  int64_t slots = bytesOfSlots(used);
  int64_t inRings = bytesOfRings(rings, [](cta::RingOp ring) { return ring.getStages(); });
  return (slots + inRings) * cta::groupsOf(module);
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
  if (needsOneReader(op))
    return oneReaderScratchBytes(op);
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
