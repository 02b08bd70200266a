//===- SumsBeside.h - sums that a loop keeps beside its products ---------===//
#ifndef TILE_PASSES_TILE_SUMSBESIDE_H
#define TILE_PASSES_TILE_SUMSBESIDE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// In how many parts of equal size warpgroups should compute products of so many columns, whose
/// results the loop scales and adds up itself, so that a thread has room for what is added up
/// beside the results; 1 where it has room as it is, or parts do not help.
///
/// The tensor cores wait for arithmetic that uses a product's result unless another product is
/// under way, which takes two results beside the sums (StaggerDots.cpp). Where that is too much
/// even in parts, there is at least room for one.
int64_t partsBesideSums(mlir::func::FuncOp kernel, int64_t columns);

} // namespace tile

#endif // TILE_PASSES_TILE_SUMSBESIDE_H
