//===- RegisterMap.h - registers by the elements they hold ----------------===//
#ifndef TILE_PASSES_LOWERING_PRODUCTS_REGISTERMAP_H
#define TILE_PASSES_LOWERING_PRODUCTS_REGISTERMAP_H

#include "passes/lowering/core/Coordinates.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace tile::lowering {

/// Which register of this thread holds an element: by coordinates at lane 0,
/// warp 0, so that layouts whose thread parts agree can be matched.
class RegisterMap {
public:
  explicit RegisterMap(const layout::LinearLayout &layout) {
    for (int32_t r = layout.inSize(layout::Dim::reg()); r-- > 0;)
      byCoordinates[key(registerCoordinates(layout, r))] = r;
  }
  std::optional<unsigned> find(llvm::ArrayRef<int32_t> coordinates) const {
    auto it = byCoordinates.find(key(coordinates));
    return it == byCoordinates.end() ? std::nullopt : std::optional(it->second);
  }
  /// Coordinates as one number: a block has at most 2^20 elements.
  static uint64_t key(llvm::ArrayRef<int32_t> coordinates) {
    uint64_t packed = 0;
    for (int32_t c : coordinates)
      packed = packed << 21 | uint64_t(c);
    return packed;
  }

private:
  llvm::DenseMap<uint64_t, unsigned> byCoordinates;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_PRODUCTS_REGISTERMAP_H
