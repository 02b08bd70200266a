//===- PickedElement.h - sums with at most one element that is not zero ---===//
//
//   sum(where(arange(0, 16) == i, x, 0))     row i of x, as programs read it
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_PICKEDELEMENT_H
#define TILE_PASSES_FACTS_PICKEDELEMENT_H

#include "ir/TileDialect.h"
#include <optional>

namespace tile {

/// The only index of an axis at which a mask may hold: a number, if there is one, and `offset`.
struct OnlyIndex {
  mlir::Value number;
  int64_t offset;
};

/// Of a sum of one block along an axis, where it is seen to be of one element: its index.
std::optional<OnlyIndex> pickedIndex(ReduceOp op);

} // namespace tile

#endif // TILE_PASSES_FACTS_PICKEDELEMENT_H
