//===- ScanShape.h - how the axis of a scan is spread over threads --------===//
//
// The layout pass gives scans an axis whose bits run, from the least significant: registers
// ("segment"), lanes, warps, registers ("repeats"). Whether a layout does (`isScannable`), what a
// scan in it takes (`scanCost`) and how much scratch memory it needs (`scanScratchBytes`) are read
// off the shape that the lowering follows.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_MEMORY_SCANSHAPE_H
#define TILE_PASSES_MEMORY_SCANSHAPE_H

#include "ir/TileDialect.h"
#include "ir/layout/LinearLayout.h"

namespace tile::lowering {

/// How the axis is spread.
struct ScanShape {
  unsigned segmentBits = 0, laneBits = 0, warpBits = 0, repeatBits = 0;
  unsigned firstLaneBit = 0, warpMask = 0;
  bool valid = false;
};

/// Valid only for pure power-of-two bases in the order above.
ScanShape scanShape(const layout::LinearLayout &layout, unsigned axis);

/// Bytes of scratch memory that the totals of `src`, an operand, take: one of each line, repeat
/// and warp.
int64_t scanOperandBytes(ScanOp op, const ScanShape &s, mlir::Value src);

} // namespace tile::lowering

#endif // TILE_PASSES_MEMORY_SCANSHAPE_H
