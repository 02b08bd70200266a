//===- Products.h - which types products are of ---------------------------===//
#ifndef TILE_IR_PRODUCTS_H
#define TILE_IR_PRODUCTS_H

#include "mlir/IR/BuiltinTypes.h"

namespace tile {

inline bool isFp8(mlir::Type t) {
  return mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(t);
}

/// Products of every kind: the table in the description of `tile.dot`, but for f64.
inline bool isProductOfTypes(mlir::Type a, mlir::Type b, mlir::Type acc) {
  if (isFp8(a) && isFp8(b))
    return acc.isF16() || acc.isF32();
  if (a != b)
    return false;
  if (a.isF16())
    return acc.isF16() || acc.isF32();
  if (a.isBF16() || a.isF32())
    return acc.isF32();
  return a.isInteger(8) && acc.isInteger(32);
}

} // namespace tile

#endif // TILE_IR_PRODUCTS_H
