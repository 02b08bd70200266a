//===- ProductsInFlight.h - waiting for some of the products --------------===//
#ifndef TILE_PASSES_LOWERING_PRODUCTS_PRODUCTSINFLIGHT_H
#define TILE_PASSES_LOWERING_PRODUCTS_PRODUCTSINFLIGHT_H
#include "passes/lowering/instructions/Instructions.h"

namespace tile::lowering {

/// As `Instructions::wgmmaWait`, but the last `pending` committed groups, which
/// `accumulators` are not of, may go on.
llvm::SmallVector<mlir::Value> waitForProducts(Instructions &in, mlir::ValueRange accumulators,
                                               unsigned pending);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_PRODUCTS_PRODUCTSINFLIGHT_H
