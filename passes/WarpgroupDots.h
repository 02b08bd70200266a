//===- WarpgroupDots.h - which products warpgroups compute ----------------===//
#ifndef TILE_PASSES_WARPGROUPDOTS_H
#define TILE_PASSES_WARPGROUPDOTS_H

#include "passes/StridedAccess.h"

namespace tile {

/// On a loop (bool): `warp_specialize` of `tl.range`, where it was given.
inline constexpr llvm::StringLiteral kWarpSpecializeAttr = "tile.warp_specialize";

/// How warpgroup matrix instructions compute a product, if they can on the
/// module's target and with its warps: as it is, or (few rows) transposed.
enum class WarpgroupForm { None, Direct, Transposed };
WarpgroupForm warpgroupForm(DotOp dot);

/// Floating-point numbers that loops of `kernel` load beside operands that TMA brings,
/// as far as it can bring them too and they do not come through pointers of `written`
/// (BesideOperands.cpp).
void copyBesideOperands(mlir::func::FuncOp kernel, StridedAnalysis &analysis,
                        const llvm::DenseSet<mlir::Value> &written);

/// No store writes what comes from elements of `v` at `first` or beyond along `dim`
/// (WrappedIndices.cpp).
bool isDeadBeyond(mlir::Value v, unsigned dim, const Polynomial &first, StridedAnalysis &analysis);

} // namespace tile

#endif // TILE_PASSES_WARPGROUPDOTS_H
