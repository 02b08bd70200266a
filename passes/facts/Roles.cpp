//===- Roles.cpp - whether some warps only copy ------------------------------===//
#include "passes/facts/Roles.h"
#include "ir/Kernel.h"

using namespace mlir;
using namespace tile;

bool tile::copiesInPlace(func::FuncOp kernel) {
  return kernelOf(kernel).getRoles() == WarpRoles::None;
}

int32_t tile::fewestStages(int32_t stages, int64_t warpgroups) {
  return warpgroups > 1 ? stages : std::min(stages, 2);
}
