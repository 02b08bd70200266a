//===- Roles.cpp - whether some warps only copy ------------------------------===//
#include "passes/facts/Roles.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/MemoryOrder.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/ScalarWork.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

bool tile::copiesInPlace(func::FuncOp kernel) {
  return kernelOf(kernel).getRoles() == WarpRoles::None;
}

bool tile::hasRoles(ModuleOp module) {
  return module.walk([](cta::RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

int32_t tile::fewestStages(Operation *loop, int32_t stages, int64_t warpgroups) {
  unsigned products = 0;
  loop->walk([&](cta::WarpgroupDotOp) { ++products; });
  int32_t fewest = products > 1 ? 2 : int32_t(tuningOf(loop).fewestSlots);
  return warpgroups > 1 ? stages : std::min(stages, fewest);
}

int32_t tile::stagesOfUse(scf::ForOp loop, int32_t stages) {
  std::optional<APInt> turns = loop.getStaticTripCount();
  bool isShort = turns && turns->ugt(1) && turns->ult(uint64_t(std::max(stages, 0)));
  return isShort ? int32_t(turns->getZExtValue()) : stages;
}

bool tile::mayTell(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  if (load && load.getIsVolatile() && !isa<RankedTensorType>(load.getType()))
    return true;
  return isa<AtomicRmwOp, AtomicCasOp>(op) && !op->use_empty();
}

/// Whether the kernel may learn by `op`, an atomic operation, that others have written what it
/// reads next: it acquires, and somebody looks at what it gives.
static bool maySynchronize(Operation *op) {
  auto acquiresAndTells = [](auto atomic) {
    return acquires(atomic.getSem()) && !atomic.getResult().use_empty();
  };
  if (auto rmw = dyn_cast<AtomicRmwOp>(op))
    return acquiresAndTells(rmw);
  auto cas = dyn_cast<AtomicCasOp>(op);
  return cas && acquiresAndTells(cas);
}

/// Whether `op` may come behind `before` in the order of a program: in a later turn of a loop
/// that both are in, too.
static bool mayComeBehind(Operation *op, Operation *before) {
  for (Operation *loop = before->getParentOp(); loop; loop = loop->getParentOp())
    if (isa<LoopLikeOpInterface>(loop) && loop->isProperAncestor(op))
      return true;
  Operation *ancestor = before;
  while (ancestor && !ancestor->getBlock()->findAncestorOpInBlock(*op))
    ancestor = ancestor->getParentOp();
  return ancestor && ancestor->isBeforeInBlock(ancestor->getBlock()->findAncestorOpInBlock(*op));
}

bool tile::mayComeBehindFlag(Operation *op) {
  return op->getParentOfType<func::FuncOp>()
      .walk([&](Operation *other) {
        return maySynchronize(other) && mayComeBehind(op, other) ? WalkResult::interrupt()
                                                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<Reason> tile::obstacleToRoles(func::FuncOp kernel) {
  if (copiesInPlace(kernel))
    return Reason::RolesNotWanted;
  unsigned threads = cta::threadsOf(kernel);
  if (threads + cta::producerThreads(threads) > kMaxThreads)
    return Reason::RolesNeedThreads;
  bool hasAtomics = false;
  DenseSet<Value> written;
  SmallVector<Operation *> copies;
  kernel.walk([&](Operation *op) {
    hasAtomics |= isa<AtomicRmwOp, AtomicCasOp>(op);
    if (isa<cta::TmaLoadOp>(op))
      copies.push_back(op);
    collectWritten(op, written);
  });
  if (copies.empty())
    return Reason::RolesNothingToCopy;
  // Warps that only copy do not wait for what the others are told.
  if (llvm::any_of(copies, mayComeBehindFlag))
    return Reason::RolesNeedFlags;
  // One thread computes what the copies depend on, and nothing else.
  auto isCopy = [](Operation *op) { return isa<cta::TmaLoadOp>(op); };
  Liveness live(kernel.getBody().front(), isCopy);
  for (Operation *op : live.ops) {
    if (!kernel->isProperAncestor(op) || isCopy(op) || op->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (!isScalarWork(op))
      return Reason::RolesNeedBlocks;
  }
  // It would read ahead of stores.
  for (Operation *op : live.ops)
    if (auto load = dyn_cast<LoadOp>(op); load && (hasAtomics || comesFrom(load.getPtr(), written)))
      return Reason::RolesNeedStores;
  return std::nullopt;
}
