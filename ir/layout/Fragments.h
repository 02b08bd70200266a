//===- Fragments.h - layouts of a block's threads, filled bit by bit -------===//
#ifndef TILE_IR_LAYOUT_FRAGMENTS_H
#define TILE_IR_LAYOUT_FRAGMENTS_H

#include "ir/layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"

namespace tile::layout {

/// Where each bit of a register's, lane's and warp's number goes.
struct FragmentRows {
  llvm::SmallVector<uint64_t, 8> reg, lane, warp;

  LinearLayout build(llvm::ArrayRef<DimValue> outs) const {
    llvm::SmallVector<uint64_t, 16> all(reg.begin(), reg.end());
    llvm::append_range(all, lane);
    llvm::append_range(all, warp);
    return LinearLayout::fromRows({{Dim::reg(), 1 << reg.size()},
                                   {Dim::lane(), 1 << lane.size()},
                                   {Dim::warp(), 1 << warp.size()}},
                                  outs, all);
  }
};

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_FRAGMENTS_H
