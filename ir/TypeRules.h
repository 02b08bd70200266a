//===- TypeRules.h - rules that several operations share ------------------===//
#ifndef TILE_IR_TYPERULES_H
#define TILE_IR_TYPERULES_H

#include "mlir/IR/Operation.h"

namespace tile {

/// Expected `actual` to be `expected` up to the encoding.
llvm::LogicalResult expectType(mlir::Operation *op, mlir::Type actual, mlir::Type expected,
                               llvm::StringRef what);

} // namespace tile

#endif // TILE_IR_TYPERULES_H
