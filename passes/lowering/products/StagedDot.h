//===- StagedDot.h - products by multiply-adds --------------------*- C++ -*-===//
#ifndef TILE_PASSES_LOWERING_PRODUCTS_STAGEDDOT_H
#define TILE_PASSES_LOWERING_PRODUCTS_STAGEDDOT_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

/// A product whose operands go through the shared memory that it has been given.
mlir::LogicalResult multiplyStaged(Core &core, DotOp op);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_PRODUCTS_STAGEDDOT_H
