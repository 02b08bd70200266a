//===- Spelling.h - types as signatures write them ------------------------===//
#ifndef TILE_IR_SPELLING_H
#define TILE_IR_SPELLING_H

#include "ir/TileDialect.h"

namespace tile {

/// "fp16", "bf16", "i32", "fp8e5"; "ptr" for any pointer. Integers have no sign
/// in the IR.
inline std::string spelled(mlir::Type element) {
  if (mlir::isa<PtrType>(element))
    return "ptr";
  if (element.isBF16())
    return "bf16";
  if (mlir::isa<mlir::Float8E4M3FNType>(element))
    return "fp8e4nv";
  if (mlir::isa<mlir::Float8E5M2Type>(element))
    return "fp8e5";
  return (mlir::isa<mlir::FloatType>(element) ? "fp" : "i") +
         std::to_string(element.getIntOrFloatBitWidth());
}

} // namespace tile

#endif // TILE_IR_SPELLING_H
