//===- ProductForms.h - which products warpgroups compute, and how --------===//
#ifndef TILE_PASSES_FACTS_PRODUCTFORMS_H
#define TILE_PASSES_FACTS_PRODUCTFORMS_H

#include "ir/TileDialect.h"
#include "passes/facts/Refusals.h"

namespace tile {

/// How warpgroup matrix instructions compute a product, if they can on the
/// module's target and with its warps: as it is, or (few rows) transposed.
enum class WarpgroupForm { None, Direct, Transposed };
WarpgroupForm warpgroupForm(DotOp dot);
/// Why warpgroups do not compute it though the target has them, if so.
std::optional<Reason> obstacleToWarpgroups(DotOp dot);

} // namespace tile

#endif // TILE_PASSES_FACTS_PRODUCTFORMS_H
