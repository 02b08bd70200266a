//===- Roles.cpp - whether some warps only copy ------------------------------===//
#include "passes/facts/Roles.h"
#include "ir/Kernel.h"

using namespace mlir;
using namespace tile;

bool tile::copiesInPlace(func::FuncOp kernel) {
  if (kernelOf(kernel).getRoles() == WarpRoles::None)
    return true;
  auto isProduct = [](Operation *op) { return isa<DotOp, cta::WarpgroupDotOp>(op); };
  return kernel
      .walk([&](scf::ForOp loop) {
        auto wanted = loop->getAttrOfType<BoolAttr>(kWarpSpecializeAttr);
        bool isForbidden =
            wanted && !wanted.getValue() &&
            loop.walk([&](Operation *op) {
                  return isProduct(op) ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
        return isForbidden ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
