//===- LaunchLimit.h - how much one launch may do without hardware --------===//
#ifndef TILE_RUNTIME_LAUNCHLIMIT_H
#define TILE_RUNTIME_LAUNCHLIMIT_H

#include <cstdint>

namespace tile::runtime {

/// What one launch may do on the interpreter or the emulator, in operations on elements: some
/// minutes of a core. It is a count and no time, so that a launch is refused everywhere or nowhere.
constexpr uint64_t kLaunchLimit = 100'000'000'000;

} // namespace tile::runtime

#endif // TILE_RUNTIME_LAUNCHLIMIT_H
