//===- ReadLate.h - what products' results are combined with, read behind them ===//
#ifndef TILE_PASSES_LAYOUTS_READLATE_H
#define TILE_PASSES_LAYOUTS_READLATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// What moves through shared memory to where a thread has more of it, and is needed first behind a
/// product of warpgroups, is written in front of the product and read behind it, where that lets
/// more programs in. How many blocks those are.
unsigned readBehindProducts(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_READLATE_H
