//===- KeptDimensions.h - blocks without their dimensions of size one -----===//
#ifndef TILE_PASSES_FACTS_KEPTDIMENSIONS_H
#define TILE_PASSES_FACTS_KEPTDIMENSIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tile {

/// Which dimensions of a block of shape `from` are those of `to`, if the others have size
/// one: the number of each in `to`, or -1.
inline std::optional<llvm::SmallVector<int, 5>> keptDimensions(llvm::ArrayRef<int64_t> from,
                                                               llvm::ArrayRef<int64_t> to) {
  llvm::SmallVector<int, 5> kept(from.size(), -1);
  size_t left = to.size();
  for (size_t dim = from.size(); dim-- > 0;)
    if (left > 0 && from[dim] == to[left - 1])
      kept[dim] = int(--left);
    else if (from[dim] != 1)
      return std::nullopt;
  return left == 0 ? std::optional(kept) : std::nullopt;
}

} // namespace tile

#endif // TILE_PASSES_FACTS_KEPTDIMENSIONS_H
