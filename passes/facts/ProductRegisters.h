//===- ProductRegisters.h - what a thread holds while products are computed --===//
#ifndef TILE_PASSES_FACTS_PRODUCTREGISTERS_H
#define TILE_PASSES_FACTS_PRODUCTREGISTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// Registers of a thread of a laid-out kernel that blocks of floats take where it holds most of
/// them: during some warpgroup product, its result among them. Indices and pointers are
/// not counted: they are computed where they are needed.
int64_t registersDuringProducts(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_FACTS_PRODUCTREGISTERS_H
