//===- EarlyCopies.cpp - what is used last is on its way first ------------===//
//
// Contract and example: EarlyCopiesPass in passes/copies/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "ir/layout/Swizzle.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/copies/CopyHints.h"
#include "passes/copies/RowMajorBuffer.h"
#include "passes/facts/PointerRoots.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_EARLYCOPIESPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-early-copies"
ALWAYS_ENABLED_STATISTIC(blocksCopied, "blocks copied before the first load");
using layout::Dim;

namespace {
struct EarlyCopy {
  LoadOp load;
  Operation *user;      ///< the first
  ReduceOp before;      ///< the last in front of it
  cta::BufferType type; ///< of the copy
};
} // namespace

/// The first op of `block` that uses `v`, itself or in a region.
static Operation *firstUser(Value v, Block &block) {
  Operation *first = nullptr;
  for (Operation *user : v.getUsers())
    if (Operation *here = block.findAncestorOpInBlock(*user))
      if (!first || here->isBeforeInBlock(first))
        first = here;
  return first;
}

/// Whether `v` is computed from what all programs have; `slice` is by what.
static bool isSameForAllPrograms(Value v, llvm::SetVector<Operation *> &slice) {
  Operation *op = v.getDefiningOp();
  if (!op)
    return isa<func::FuncOp>(v.getParentBlock()->getParentOp());
  if (slice.contains(op))
    return true;
  if (op->getNumRegions() || !isMemoryEffectFree(op) ||
      isa<ProgramIdOp, DotOp, cta::ConvertLayoutOp>(op) ||
      !llvm::all_of(op->getOperands(), [&](Value o) { return isSameForAllPrograms(o, slice); }))
    return false;
  slice.insert(op); // behind what it depends on
  return true;
}

/// Whether `op` depends on a load other than `load`.
static bool waitsForOther(Operation *op, LoadOp load, llvm::DenseSet<Operation *> &seen) {
  return llvm::any_of(op->getOperands(), [&](Value v) {
    Operation *from = v.getDefiningOp();
    if (!from || from == load || !seen.insert(from).second)
      return false;
    return isa<LoadOp>(from) || waitsForOther(from, load, seen);
  });
}

/// Whether each copy of `load` is a whole one, as its registers follow each other.
static bool fillsCopies(LoadOp load, cta::BufferType buffer, unsigned vector) {
  if (load.getVector() < vector || load->hasAttr(cta::kMaskRunAttr))
    return false;
  layout::VectorAccess access = layout::widestVector(
      layout::offsetsOf(cta::getLayout(load.getType()), buffer.getLinearLayout()), Dim::offset(),
      llvm::Log2_32(vector));
  for (auto [bit, mask] : llvm::enumerate(access.masks))
    if (mask != int32_t(1) << bit)
      return false;
  return access.masks.size() == llvm::Log2_32(vector);
}

/// `load` as a copy that starts before `start`, if that is worth it.
static std::optional<EarlyCopy> plan(LoadOp load, Operation *start) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || load.getIsVolatile() || !readsZerosOutside(load) || !canKeepHints(load))
    return std::nullopt;
  Type element = type.getElementType();
  unsigned bytes = element.isIntOrFloat() ? getElementBytes(element) : kWholeCopyBytes;
  EarlyCopy copy{load, firstUser(load.getResult(), *load->getBlock()), nullptr,
                 rowMajorBuffer(type)};
  if (!copy.user || bytes >= kWholeCopyBytes || element.isInteger(1) ||
      !fillsCopies(load, copy.type, kWholeCopyBytes / bytes))
    return std::nullopt;
  bool behindLoad = false, behindWrite = false;
  for (Operation *op = start->getNextNode(); op != copy.user; op = op->getNextNode()) {
    behindLoad |= op == load;
    auto reduce = dyn_cast<ReduceOp>(op);
    auto other = dyn_cast<LoadOp>(op);
    if (op->getNumRegions() && !reduce)
      return std::nullopt;
    bool onlyReads = (other && !other.getIsVolatile()) || isa<cta::ReadOp, AssumeOp>(op) ||
                     isMemoryEffectFree(op);
    if (!behindLoad && !onlyReads)
      return std::nullopt;
    behindWrite |= !onlyReads; // maybe of what is copied: it must have landed by then
    llvm::DenseSet<Operation *> seen;
    if (reduce && !behindWrite && waitsForOther(reduce, load, seen))
      copy.before = reduce;
  }
  return copy.before ? std::optional(copy) : std::nullopt;
}

/// Computes what a copy depends on before `start`, if that is the same for all programs.
static bool hoistOperands(LoadOp load, Operation *start) {
  llvm::SetVector<Operation *> slice;
  for (Value v : {load.getPtr(), load.getMask()})
    if (v && !isSameForAllPrograms(v, slice))
      return false;
  for (Operation *op : slice)
    if (op->getBlock() == start->getBlock() && start->isBeforeInBlock(op))
      op->moveBefore(start);
  return true;
}

static void copyEarly(Block &body, int64_t room, bool mayPassCache) {
  auto loads = body.getOps<LoadOp>();
  if (loads.empty())
    return;
  // Not a load itself, which may be one of those that are replaced.
  OpBuilder b(*loads.begin());
  Operation *start = cta::AsyncCommitOp::create(b, (*loads.begin()).getLoc());
  ReduceOp wait = nullptr;
  SmallVector<cta::AsyncCopyOp> copies, others; ///< others' load asks for the second cache alone
  for (LoadOp load : llvm::make_early_inc_range(loads)) {
    std::optional<EarlyCopy> copy = plan(load, start);
    int64_t bytes = copy ? llvm::alignTo(copy->type.getBytes(), cta::kSlotAlignment) : 0;
    if (!copy || bytes > room || !hoistOperands(load, start))
      continue;
    room -= bytes;
    ++blocksCopied;
    LDBG() << bytes << " bytes before the first load: " << load;
    b.setInsertionPoint(start);
    unsigned vector = kWholeCopyBytes / getElementBytes(copy->type.getElementType());
    Value slot = cta::SlotsOp::create(b, load.getLoc(), copy->type, 1u);
    auto made = cta::AsyncCopyOp::create(b, load.getLoc(), load.getPtr(), load.getMask(), slot,
                                         Value(), vector);
    keepHints(load, made);
    (load.getCache() == CacheModifier::cg ? others : copies).push_back(made);
    b.setInsertionPoint(copy->user);
    load.getResult().replaceAllUsesWith(
        cta::ReadOp::create(b, load.getLoc(), load.getType(), slot).getResult());
    load.erase();
    if (!wait || copy->before->isBeforeInBlock(wait))
      wait = copy->before;
  }
  if (!wait) {
    start->erase();
    return;
  }
  bool pastCache =
      mayPassCache && copies.size() == 1 && others.empty() &&
      copies[0].getBuffer().getType().getBytes() <= tuningOf(start).earlyMostBytesPastCache;
  for (cta::AsyncCopyOp copy : copies)
    if (!pastCache)
      copy->setAttr(cta::kReadByOthersAttr, b.getUnitAttr());
  // Else the assembler starts the copies where it has nothing else to do: behind
  // the loads, when the row has arrived.
  b.setInsertionPointAfter(start);
  cta::BarrierOp::create(b, start->getLoc());
  b.setInsertionPoint(wait);
  cta::AsyncWaitOp::create(b, wait.getLoc(), 0u, false);
}

namespace {
struct EarlyCopiesPass : tile::impl::EarlyCopiesPassBase<EarlyCopiesPass> {
  using EarlyCopiesPassBase::EarlyCopiesPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!targetOf(module).has(Feature::CpAsync))
      return;
    const Tuning &tuning = tuningOf(module);
    int64_t threads = 32 * cta::warpsOfGroup(module);
    int64_t room =
        std::min(threads * tuning.earlyBytesOfThread,
                 lowering::maxSharedBytes(module) / 2 - lowering::bytesBesidesSlots(module, {}));
    if (mostBytes >= 0)
      room = std::min(room, int64_t(mostBytes));
    for (func::FuncOp kernel : module.getOps<func::FuncOp>())
      copyEarly(kernel.getBody().front(), room, threads >= tuning.earlyFewestThreadsPastCache);
  }
};
} // namespace
