//===- Roles.h - whether some warps only copy --------------------------------===//
#ifndef TILE_PASSES_FACTS_ROLES_H
#define TILE_PASSES_FACTS_ROLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// True if the warps of `kernel` that compute also start its copies: `warp_roles` is none, or
/// `warp_specialize` is false of a loop over products.
bool copiesInPlace(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_FACTS_ROLES_H
