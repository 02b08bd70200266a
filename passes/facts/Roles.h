//===- Roles.h - whether some warps only copy --------------------------------===//
#ifndef TILE_PASSES_FACTS_ROLES_H
#define TILE_PASSES_FACTS_ROLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// True if the warps of `kernel` that compute also start its copies: `warp_roles` is none.
bool copiesInPlace(mlir::func::FuncOp kernel);

/// How few stages a ring of operands may have to make room for another program, where so many
/// warpgroups compute on a multiprocessor: two if one would be alone.
int32_t fewestStagesBeside(mlir::Operation *op, int64_t warpgroups);

} // namespace tile

#endif // TILE_PASSES_FACTS_ROLES_H
