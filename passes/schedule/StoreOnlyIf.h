//===- StoreOnlyIf.h - stores of programs that may be past the end -*- C++ -*-===//
#ifndef TILE_PASSES_SCHEDULE_STOREONLYIF_H
#define TILE_PASSES_SCHEDULE_STOREONLYIF_H

#include "mlir/IR/Operation.h"

namespace tile {

/// Each of `stores` is done only where `exists`: a program past the end of the grid computes as
/// the last one does, for others' sake.
void storeOnlyIf(mlir::Value exists, llvm::ArrayRef<mlir::Operation *> stores);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_STOREONLYIF_H
