//===- Roles.h - whether some warps only copy --------------------------------===//
#ifndef TILE_PASSES_FACTS_ROLES_H
#define TILE_PASSES_FACTS_ROLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/facts/Refusals.h"

namespace tile {

/// True if the warps of `kernel` that compute also start its copies: `warp_roles` is none.
bool copiesInPlace(mlir::func::FuncOp kernel);

/// True once some warps only copy, and the others compute.
bool hasRoles(mlir::ModuleOp module);

/// Of so many stages, those that `loop` has a use for when it runs once: one for each of its turns,
/// where these are known and more than one.
int32_t stagesOfUse(mlir::scf::ForOp loop, int32_t stages);

/// How few of its `stages` a ring of operands of `loop` may have to make room for another program,
/// where so many warpgroups compute on a multiprocessor. A warpgroup that would be alone gives up
/// all but two, or those that one product wants which is in flight over the turn's end. Others keep
/// theirs: how many programs there will be is not known, and if they are few, copies that start
/// early are of more use.
int32_t fewestStages(mlir::Operation *loop, int32_t stages, int64_t warpgroups);

/// Whether the kernel may learn by `op` that others have written what it reads next: an atomic
/// operation whose result it looks at, or a number that it loads as volatile, to wait for another.
/// Whether it acquires does not matter: programs wait for each other without, and acquire behind.
bool mayTell(mlir::Operation *op);

/// Whether `op` may come behind an atomic operation that acquires and whose result is looked at:
/// what it reads may have been written until then by who set a flag. Loads stay behind such, and
/// are not copied ahead, nor by TMA, which would need a fence besides.
bool mayComeBehindFlag(mlir::Operation *op);

/// Why no warps of `kernel` can do nothing but its copies by TMA, beside those that compute;
/// nothing if they can. Who decides for what needs such warps asks this, and so does who makes
/// them.
std::optional<Reason> obstacleToRoles(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_FACTS_ROLES_H
