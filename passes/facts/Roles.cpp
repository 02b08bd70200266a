//===- Roles.cpp - whether some warps only copy ------------------------------===//
#include "passes/facts/Roles.h"
#include "ir/Kernel.h"

using namespace mlir;
using namespace tile;

bool tile::copiesInPlace(func::FuncOp kernel) {
  return kernelOf(kernel).getRoles() == WarpRoles::None;
}

int32_t tile::fewestStagesBeside(Operation *op, int64_t warpgroups) {
  return warpgroups > 1 ? int32_t(tuningOf(op).fewestSlots) : 2;
}
