//===- Printing.h - what `tile.print` writes of a block -------------------===//
//
// The interpreter and compiled kernels print the same lines.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_PRINTING_H
#define TILE_IR_PRINTING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tile {

/// Elements printed of a block.
inline constexpr int64_t kMaxPrinted = 1024;

/// Elements in one line: the whole row if it is short, else up to 16 that
/// divide it.
inline int64_t printedPerLine(llvm::ArrayRef<int64_t> shape) {
  int64_t row = shape.empty() ? 1 : shape.back(), length = std::min<int64_t>(row, 16);
  while (row % length)
    --length;
  return length;
}

/// On a `tile.print` (array of i64 arrays): the operands' shapes, where the
/// operands hold their elements in row-major order followed by others.
inline constexpr llvm::StringLiteral kPrintedShapesAttr = "tile.printed_shapes";

} // namespace tile

#endif // TILE_IR_PRINTING_H
