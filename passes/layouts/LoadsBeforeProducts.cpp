//===- LoadsBeforeProducts.cpp - what products end with is on its way before them -===//
//
// Behind a loop of products a program waits for memory once more, with nothing left to hide that,
// where it adds what is loaded there: a bias, a block that the result is added to. Before the loop
// it waits for the first copies anyway, and the tensor cores, which work by themselves, leave
// registers to keep the few blocks.
//
//===----------------------------------------------------------------------===//
#include "passes/layouts/LoadsBeforeProducts.h"
#include "ir/Kernel.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/facts/Registers.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"
#include "llvm/Support/DebugLog.h"

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-group-loads"

static bool hasProducts(Operation *op) {
  return op->walk([](cta::WarpgroupDotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Whether `all` writes to nothing but shared memory, and waits for nobody outside of its program.
static bool staysInside(Operation *all) {
  auto inside = [](Operation *op) {
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || plainLoad(op) ||
           isMemoryEffectFree(op) ||
           isa<cta::RingAcquireOp, cta::RingCopyOp, cta::RingBulkCopyOp, cta::RingElementCopyOp,
               cta::RingFillOp, cta::RingCommitOp, cta::RingWaitOp, cta::RingReleaseOp,
               cta::RingAdvanceOp, cta::WarpgroupDotOp, cta::WarpgroupWaitOp, cta::FillOp,
               cta::AsyncCopyOp, cta::AsyncCommitOp, cta::AsyncWaitOp, cta::ReadOp, cta::BarrierOp>(
               op);
  };
  return !all->walk([&](Operation *op) {
               return inside(op) ? WalkResult::advance() : WalkResult::interrupt();
             })
              .wasInterrupted();
}

/// Shared memory of a program whose scratch has no place yet: at least that, since it may lie where
/// copies were.
static int64_t leastSharedBytes(ModuleOp module) {
  int64_t bytes =
      std::max(lowering::bytesBesidesSlots(module, {}), lowering::bytesOfCopies(module));
  return std::min(bytes, lowering::maxSharedBytes(module));
}

namespace {
/// How many registers a thread has left while products are computed.
class SpareRegisters {
public:
  explicit SpareRegisters(func::FuncOp kernel)
      : module(kernel->getParentOfType<ModuleOp>()), tuning(tuningOf(module)),
        held(registersDuringProducts(kernel)), counted(held), shared(leastSharedBytes(module)) {
    const Target &target = targetOf(module);
    unsigned threads = cta::threadsOf(module);
    bool hasRoles =
        kernel.walk([](cta::RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
    unsigned all = threads + (hasRoles ? cta::producerThreads(threads) : 0);
    int64_t programs = std::max<int64_t>(
        programsAtOnce(module, held + tuning.registersOfAddresses, shared, all), 1);
    limit = hasRoles && programs == 1 ? registersOfRoles(target, threads).consumers
                                      : mostRegistersOfThread(target, unsigned(all * programs));
  }
  /// Whether there are those that keep a block of `type`, which then has them. Who chooses between
  /// forms of a kernel must not see fewer programs, nor that one warpgroup holds too much.
  bool take(Type type) {
    int64_t kept = held + packedRegistersOf(type), seen = counted + registersOf(type);
    if (kept + tuning.registersOfAddresses + kRegistersBesideAccumulator > limit ||
        seen + kRegistersBesideAccumulator > tuning.mostRegistersOfWarpgroup ||
        warpgroupsAtOnce(module, seen, shared) < warpgroupsAtOnce(module, counted, shared))
      return false;
    held = kept;
    counted = seen;
    return true;
  }

private:
  ModuleOp module;
  const Tuning &tuning;
  int64_t held;    ///< narrow elements that are only kept share registers
  int64_t counted; ///< as `registersDuringProducts` does
  int64_t shared, limit = 0;
};
} // namespace

/// A load whose accesses fill registers: of narrower ones each has a register and an address of its
/// own.
static LoadOp wholeLoad(Operation *op) {
  LoadOp load = plainLoad(op);
  auto type = load ? dyn_cast<RankedTensorType>(load.getType()) : RankedTensorType();
  bool isWhole = type && int64_t(load.getVector()) * getElementBytes(type.getElementType()) >= 4;
  return isWhole ? load : LoadOp();
}

/// Of one block of operations.
static unsigned loadBeforeProducts(Block &block, SpareRegisters &spare) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  Operation *loop = nullptr; // the last, if all behind it may be passed
  unsigned moved = 0;
  for (Operation *op : ops) {
    if (isa<LoopLikeOpInterface>(op) && hasProducts(op)) {
      loop = staysInside(op) ? op : nullptr;
      continue;
    }
    if (isa<RegionBranchOpInterface>(op) || !staysInside(op))
      loop = nullptr;
    LoadOp load = loop ? wholeLoad(op) : LoadOp();
    auto with = load ? computedFrom(load, loop, {}) : std::nullopt;
    if (!with || !spare.take(load.getType()))
      continue;
    for (Operation *o : *with)
      o->moveBefore(loop);
    LDBG() << "starts before the products: " << load;
    ++moved;
  }
  return moved;
}

unsigned tile::loadBeforeProducts(func::FuncOp kernel) {
  SpareRegisters spare(kernel);
  unsigned moved = 0;
  kernel.walk([&](Block *block) { moved += ::loadBeforeProducts(*block, spare); });
  return moved;
}
