//===- GridForms.h - which forms of a kernel a grid is launched in --------===//
#ifndef TILE_RUNTIME_GRIDFORMS_H
#define TILE_RUNTIME_GRIDFORMS_H

#include "target/tuning/Launches.h"
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

/// Whether blocks of so many programs along each axis pay though their programs run longer and
/// longer along it, from few turns to many: a block takes as long as its last program. Of n along
/// the axis, p in a block, they take (n + p) / (n + 1) times as long for it.
template <typename Count>
bool paysToShareGrowing(const Count (&programs)[3], const uint32_t *grid,
                        unsigned multiprocessors) {
  auto [shared, apart] = LaunchTuning::gainOfSharing;
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t together = uint64_t(programs[axis]), along = grid[axis];
    if (together > 1 && apart * (along + together) > shared * (along + 1))
      return false;
  }
  return fillsBlocks(programs, grid, multiprocessors);
}

/// Whether blocks of so many programs along each axis are through `grid` no later than blocks of
/// one program, of which `apart` are on a multiprocessor at once, if all programs are equally long:
/// in turns of all multiprocessors, of which the last may have little left to do. `apart` 0: not
/// known; then there should be blocks for all.
template <typename Count>
bool paysToShare(const Count (&programs)[3], uint64_t apart, const uint32_t *grid,
                 unsigned multiprocessors) {
  if (apart == 0 || multiprocessors == 0)
    return fillsBlocks(programs, grid, multiprocessors);
  uint64_t blocks = 1, all = 1, together = 1;
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t side = uint64_t(programs[axis]), along = (grid[axis] + side - 1) / side;
    if (4 * uint64_t(grid[axis]) < 3 * along * side)
      return false;
    together *= side;
    blocks *= along;
    all *= grid[axis];
  }
  auto timeOf = [](uint64_t atOnce) {
    constexpr uint64_t fewest = LaunchTuning::fewestInTime;
    return LaunchTuning::besidePrograms + 2 * (atOnce > fewest ? atOnce : fewest);
  };
  uint64_t turn = apart * multiprocessors, left = all % turn;
  uint64_t alone = all / turn * timeOf(apart);
  if (left > 0)
    alone += timeOf((left + multiprocessors - 1) / multiprocessors);
  return (blocks + multiprocessors - 1) / multiprocessors * timeOf(together) <= alone;
}

/// Whether `grid` has at most `few` programs for each multiprocessor.
inline bool hasFewPrograms(uint64_t few, const uint32_t *grid, unsigned multiprocessors) {
  return few > 0 && __uint128_t(grid[0]) * grid[1] * grid[2] <= few * multiprocessors;
}

} // namespace tile::runtime

#endif // TILE_RUNTIME_GRIDFORMS_H
