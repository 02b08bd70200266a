//===- InsertBarriers.cpp - barriers where data flow asks for them --------===//
//
// Contract and example: InsertBarriersPass in passes/memory/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/Passes.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/SharedOperands.h"
#include "passes/memory/AccessOrder.h"
#include "passes/memory/JoinedStores.h"
#include "passes/memory/Scratch.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-insert-barriers"
ALWAYS_ENABLED_STATISTIC(barriersInserted, "barriers");

/// Whether all that a program computes are single numbers, and the one warp that it has left does
/// nothing as a warp: then a thread is enough. It sees what it stores without a barrier, which the
/// assembler moves no load across, and would unroll no loop for.
static bool needsOneThread(ModuleOp module) {
  if (cta::warpsOfGroup(module) != 1 || cta::groupsOf(module) != 1)
    return false;
  auto isOfNumbers = [](Operation *op) {
    auto isBlock = [](Type type) { return isa<ShapedType>(type); };
    if (llvm::any_of(op->getOperandTypes(), isBlock) || llvm::any_of(op->getResultTypes(), isBlock))
      return false;
    if (isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(op))
      return true;
    bool isElsewhere = isa<InlineAsmOp>(op) || isa<cta::CtaDialect>(op->getDialect());
    return !isElsewhere &&
           (isMemoryEffectFree(op) || isa<func::FuncOp, scf::ForOp, scf::WhileOp, scf::IfOp>(op));
  };
  for (func::FuncOp kernel : module.getOps<func::FuncOp>()) {
    bool areAll = !kernel
                       .walk([&](Operation *op) {
                         return isOfNumbers(op) ? WalkResult::advance() : WalkResult::interrupt();
                       })
                       .wasInterrupted();
    if (!areAll)
      return false;
  }
  return true;
}

namespace {

struct Interval {
  int64_t begin, end;
  bool overlaps(const Interval &o) const { return begin < o.end && o.begin < end; }
  bool operator==(const Interval &o) const { return begin == o.begin && end == o.end; }
};

/// What no barrier has settled yet.
struct Pending {
  SmallVector<Interval, 4> buffers;     ///< of shared memory, read
  SmallVector<Operation *, 4> accesses; ///< to global memory
  void clear() {
    buffers.clear();
    accesses.clear();
  }
};

template <typename T> bool mergeInto(SmallVector<T, 4> &into, ArrayRef<T> from) {
  bool changed = false;
  for (const T &i : from)
    if (!llvm::is_contained(into, i)) {
      into.push_back(i);
      changed = true;
    }
  return changed;
}

/// Adds `from` to `into`; true if that changed anything.
bool merge(Pending &into, const Pending &from) {
  bool buffers = mergeInto<Interval>(into.buffers, from.buffers);
  return mergeInto<Operation *>(into.accesses, from.accesses) || buffers;
}

struct InsertBarriersPass : tile::impl::InsertBarriersPassBase<InsertBarriersPass> {
  void runOnOperation() override {
    if (needsOneThread(getOperation())) {
      getOperation()->setAttr(cta::kOneThreadAttr, UnitAttr::get(&getContext()));
      return;
    }
    storesMeet = cta::warpsOfGroup(getOperation()) == 4;
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>()) {
      stored.clear();
      kernel.walk([&](StoreOp store) { collectRoots(store.getPtr(), stored); });
      Pending pending;
      walk(kernel.getBody().front(), pending);
    }
  }

  void walk(Block &block, Pending &pending) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto wait = dyn_cast<cta::AsyncWaitOp>(op);
      if (isa<cta::BarrierOp, cta::ClusterBarrierOp, BarrierOp, cta::RingFillOp>(op) ||
          (wait && !lowering::meetsInReduction(wait)) || (storesMeet && isa<cta::TmaStoreOp>(op))) {
        pending.clear();
      } else if (isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(op)) {
        access(op, pending);
        visit(op, pending); // a volatile load passes on what one thread has read
      } else if (isa<cta::AsyncCopyOp>(op)) {
        meet(op, pending); // what comes behind it waits for the copy, and for all threads
      } else if (isa<LoopLikeOpInterface>(op)) {
        walkLoop(op, pending);
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        Pending other = pending;
        walk(*branch.thenBlock(), pending);
        if (branch.elseBlock())
          walk(*branch.elseBlock(), other);
        merge(pending, other);
      } else if (auto roles = dyn_cast<cta::RolesOp>(op)) {
        walk(roles.getConsumers().front(), pending); // the producer exchanges nothing
      } else if (auto dot = dyn_cast<cta::WarpgroupDotOp>(op)) {
        read(dot.getA(), pending);
        read(dot.getB(), pending);
      } else if (auto buffer = dyn_cast<cta::ReadOp>(op)) {
        read(buffer.getBuffer(), pending);
      } else if (auto fill = dyn_cast<cta::FillOp>(op)) {
        write(fill, pending);
      } else if (isa<DotOp>(op)) {
        visit(op, pending);
        // It may take its operands from the buffer itself, behind later barriers.
        for (Value operand : op.getOperands())
          if (cta::ReadOp buffer = readOfOperand(operand))
            read(buffer.getBuffer(), pending);
      } else {
        visit(op, pending);
      }
    }
  }

  bool storesMeet = false;      ///< all threads, before the copies of a `cta.tma_store`
  llvm::DenseSet<Value> stored; ///< where pointers come from that the kernel stores by

  void walkLoop(Operation &loop, Pending &pending) {
    while (true) {
      Pending head = pending;
      for (Region &region : loop.getRegions())
        walk(region.front(), head);
      if (!merge(pending, head))
        return;
    }
  }

  static Interval intervalOf(Operation *buffer) {
    int64_t begin = buffer->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr).getInt();
    return {begin, begin + lowering::bufferBytes(buffer)};
  }

  /// A staged operand is read when it is used, not when it is made; so is a slot.
  void read(Value operand, Pending &pending) {
    if (auto slot = operand.getDefiningOp<cta::SlotOp>())
      operand = slot.getSlots();
    if (Operation *buffer = operand.getDefiningOp();
        isa_and_nonnull<cta::StageOp, cta::SlotsOp>(buffer))
      mergeInto<Interval>(pending.buffers, intervalOf(buffer));
  }

  /// What an operation writes. Slots are filled and read by others.
  static Interval writtenBy(Operation &op) {
    if (auto fill = dyn_cast<cta::FillOp>(op)) {
      auto slot = fill.getBuffer().getDefiningOp<cta::SlotOp>();
      return intervalOf(slot.getSlots().getDefiningOp());
    }
    if (isa<cta::StageOp, cta::SlotsOp>(op))
      return intervalOf(&op);
    int64_t offset = op.getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr).getInt();
    return {offset, offset + lowering::scratchBytes(&op)};
  }

  /// Whether what `op` writes may still be read, or what those do that it meets the others with.
  static bool isPending(Operation &op, const Pending &pending) {
    for (Operation *o = &op; o; o = meetsLater(o))
      if (llvm::any_of(pending.buffers,
                       [&, to = writtenBy(*o)](const Interval &i) { return i.overlaps(to); }))
        return true;
    return false;
  }

  /// A slot that is filled may be read from what is behind the operation's own barrier.
  void write(cta::FillOp fill, Pending &pending) {
    if (isPending(*fill, pending))
      barrierBefore(*fill, pending);
    if (!meetsLater(fill))
      pending.clear();
  }

  /// Other threads may hold an element that is loaded than the one that stores it.
  void access(Operation &op, Pending &pending) {
    meet(op, pending);
    if (!llvm::is_contained(pending.accesses, &op))
      pending.accesses.push_back(&op);
  }

  /// A barrier before `op` if it loads what other threads store, or the other way round.
  void meet(Operation &op, Pending &pending) {
    if (llvm::any_of(pending.accesses, [&](Operation *earlier) {
          return meetAcrossThreads(*earlier, op) || mayBeInPlace(*earlier, op) ||
                 meetsAtomic(*earlier, op) || (releasesForAll(op) && isPublished(*earlier));
        }))
      barrierBefore(op, pending);
  }

  /// Whether several threads access what other programs may wait for: memory that this kernel
  /// stores to. What one thread stores, the same one releases.
  bool isPublished(Operation &access) const {
    if (auto store = dyn_cast<StoreOp>(access))
      return isa<RankedTensorType>(store.getPtr().getType());
    auto load = dyn_cast<LoadOp>(access);
    return load && comesFrom(load.getPtr(), stored);
  }

  void barrierBefore(Operation &op, Pending &pending) {
    OpBuilder b(&op);
    cta::BarrierOp::create(b, op.getLoc());
    pending.clear();
    ++barriersInserted;
    LDBG() << "before " << op;
  }

  void visit(Operation &op, Pending &pending) {
    if (isa<cta::RingOp, cta::TmaStoreOp>(op))
      return; // own memory, own synchronisation
    if (!op.hasAttr(cta::kScratchOffsetAttr))
      return;
    if (isPending(op, pending))
      barrierBefore(op, pending);
    if (isa<cta::SlotsOp>(op)) // filled and read by others, which see to their order
      return;
    // The op's own barrier settles all that was pending.
    if (!meetsLater(&op))
      pending.clear();
    pending.buffers.push_back(writtenBy(op));
  }
};

} // namespace
