//===- ProductForms.h - which products warpgroups compute, and how --------===//
#ifndef TILE_PASSES_FACTS_PRODUCTFORMS_H
#define TILE_PASSES_FACTS_PRODUCTFORMS_H

#include "ir/TileDialect.h"
#include "passes/facts/Refusals.h"
#include "target/Devices.h"

namespace tile {

/// What matrix instructions do with operands of this type.
Arithmetic arithmeticOf(mlir::Type operand);

/// How warpgroup matrix instructions compute a product, if they can on the
/// module's target and with its warps: as it is, or (few rows) transposed.
enum class WarpgroupForm { None, Direct, Transposed };
WarpgroupForm warpgroupForm(DotOp dot);
/// Why warpgroups do not compute it though the target has them, if so.
std::optional<Reason> obstacleToWarpgroups(DotOp dot);

/// The addition that is all that is done with the product's result, which then starts from the
/// other number (tile-decompose-dots); null if there is none, or it is to stay apart: warpgroups
/// add products of 8-bit floats with 14 bits or so. Sums that the program adds up itself, in f32,
/// are not left to them: over 4096 columns the error was 22 times as large. Who wants that gives
/// the product what it is added to.
mlir::Operation *sumThatJoins(DotOp dot);

/// Whether the module of `op` has products of warpgroups, and others of doubles by warps.
/// ptxas (13.0) then finds no registers for both ("Register allocation failed", at 64 as at
/// 255 of a thread) unless each takes shorter rows of them than it could: the two are far
/// apart in the kernel, but what lives across them is not moved out of the way.
bool mixesProductsWithDoubles(mlir::Operation *op);

} // namespace tile

#endif // TILE_PASSES_FACTS_PRODUCTFORMS_H
