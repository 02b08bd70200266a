//===- MapStrides.h - strides as tensor maps have them --------------------===//
//
// Shared by the launch path and by kernels built ahead, which have nothing else of it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_MAPSTRIDES_H
#define TILE_RUNTIME_MAPSTRIDES_H

#include <cstdint>

namespace tile::runtime {

/// The strides, in bytes, that a map of an array is made of, from those of the array: of all
/// `rank` dimensions but the first, whose elements are `elementBytes` each.
///
/// What has one index lies where the array begins, whatever its stride: 0 where a dimension was put
/// in front of others, any number in a slice. A map cannot have all of these, so it is told the
/// stride of the dimension inside, or the room that one row takes.
inline void makeMapStrides(const int64_t *sizes, int64_t *strides, unsigned rank,
                           unsigned elementBytes) {
  constexpr int64_t kAlignment = 16;
  if (sizes[0] <= 0 || sizes[0] > INT32_MAX)
    return; // no map has such rows
  for (unsigned i = 0; i + 1 < rank; ++i)
    if (sizes[i + 1] == 1)
      strides[i] =
          i ? strides[i - 1] : (sizes[0] * elementBytes + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace tile::runtime
#endif
