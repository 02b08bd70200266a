//===- Draw.h - a layout as a table that people read -----------------------===//
#ifndef TILE_IR_LAYOUT_DRAW_H
#define TILE_IR_LAYOUT_DRAW_H

#include "ir/layout/LinearLayout.h"

namespace tile::layout {

/// How much of a layout is drawn: it is linear, so that the rest follows.
struct DrawLimits {
  int32_t columns = 16; ///< registers of a thread
  int32_t rows = 32;    ///< lanes of a warp
  int32_t tables = 1;   ///< warps of a thread block
};

/// Tables of coordinates: a column for each position along the first input dimension
/// (registers), a row for each along the second (lanes), a table for each of the others
/// (warps). An apostrophe marks copies: what a lower register, lane or warp holds too. What
/// the limits leave out is counted; a layout with one input dimension, such as that of a
/// buffer, is drawn in lines.
std::string draw(const LinearLayout &layout, const DrawLimits &limits = {});

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_DRAW_H
