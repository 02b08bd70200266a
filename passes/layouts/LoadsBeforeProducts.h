//===- LoadsBeforeProducts.h - what products end with is on its way before them ---===//
#ifndef TILE_PASSES_LAYOUTS_LOADSBEFOREPRODUCTS_H
#define TILE_PASSES_LAYOUTS_LOADSBEFOREPRODUCTS_H

#include "ir/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// A block that threads load into registers, and nothing that may change meanwhile.
LoadOp plainLoad(mlir::Operation *op);
/// What `load` is computed from behind `first`, in the order of the text, the load last. None if
/// that waits for something itself, or cannot be moved.
std::optional<llvm::SmallVector<mlir::Operation *>>
computedFrom(LoadOp load, mlir::Operation *first, const llvm::DenseSet<mlir::Operation *> &waiting);

/// Loads behind loops of warpgroup products (a bias, what the result is added to) start before
/// them, as long as the registers that hold them meanwhile keep no program away. How many.
unsigned loadBeforeProducts(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_LOADSBEFOREPRODUCTS_H
