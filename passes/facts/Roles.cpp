//===- Roles.cpp - whether some warps only copy ------------------------------===//
#include "passes/facts/Roles.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/ScalarWork.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

bool tile::copiesInPlace(func::FuncOp kernel) {
  return kernelOf(kernel).getRoles() == WarpRoles::None;
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

std::optional<Reason> tile::obstacleToRoles(func::FuncOp kernel) {
  if (copiesInPlace(kernel))
    return Reason::RolesNotWanted;
  unsigned threads = cta::threadsOf(kernel);
  if (threads + cta::producerThreads(threads) > kMaxThreads)
    return Reason::RolesNeedThreads;
  bool hasAtomics = false, hasCopies = false;
  DenseSet<Value> written;
  kernel.walk([&](Operation *op) {
    hasAtomics |= isa<AtomicRmwOp, AtomicCasOp>(op);
    hasCopies |= isa<cta::TmaLoadOp>(op);
    collectWritten(op, written);
  });
  if (!hasCopies)
    return Reason::RolesNothingToCopy;
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
