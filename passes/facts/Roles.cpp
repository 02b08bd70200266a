//===- Roles.cpp - whether some warps only copy ------------------------------===//
#include "passes/facts/Roles.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"

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
