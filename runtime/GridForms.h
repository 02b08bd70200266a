//===- GridForms.h - which forms of a kernel a grid is launched in --------===//
#ifndef TILE_RUNTIME_GRIDFORMS_H
#define TILE_RUNTIME_GRIDFORMS_H

#include <cstdint>

namespace tile::runtime {

/// Whether `grid` has blocks of so many programs along each axis for all multiprocessors, and
/// programs that are not there would be a quarter of them at most.
template <typename Count>
bool fillsBlocks(const Count (&programs)[3], const uint32_t *grid, unsigned multiprocessors) {
  uint64_t blocks = 1;
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t together = uint64_t(programs[axis]);
    uint64_t along = (grid[axis] + together - 1) / together;
    if (4 * uint64_t(grid[axis]) < 3 * along * together)
      return false;
    blocks *= along;
  }
  return blocks >= multiprocessors;
}

/// Whether `grid` has at most `few` programs for each multiprocessor.
inline bool hasFewPrograms(uint64_t few, const uint32_t *grid, unsigned multiprocessors) {
  return few > 0 && __uint128_t(grid[0]) * grid[1] * grid[2] <= few * multiprocessors;
}

} // namespace tile::runtime

#endif // TILE_RUNTIME_GRIDFORMS_H
