//===- DotLayouts.h - who holds the operands of a matrix product ----------===//
//
// A product is computed where its accumulator lives: the layouts of both
// operands follow from the accumulator's and from what one instruction wants
// to find in a thread. `chooseDot` decides the instruction; everything else is
// algebra.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_DOTLAYOUTS_H
#define TILE_PASSES_DOTLAYOUTS_H

#include "ir/CtaDialect.h"

namespace tile {

/// Layouts in which a product takes its operands and leaves its result.
struct DotLayouts {
  layout::LinearLayout a, b, acc;
};

DotLayouts chooseDotLayouts(DotOp op, unsigned numWarps);

/// Each thread computes the elements it holds, from whole rows of `a` and whole
/// columns of `b` in its own registers. Works for any accumulator layout.
DotLayouts scalarDotLayouts(const layout::LinearLayout &acc, int64_t depth);

} // namespace tile

#endif // TILE_PASSES_DOTLAYOUTS_H
