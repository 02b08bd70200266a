//===- RegisterLimit.h - limits that authors give registers of threads -----===//
#ifndef TILE_TARGET_REGISTERLIMIT_H
#define TILE_TARGET_REGISTERLIMIT_H

namespace tile {

/// The least and the most that `maxnreg` may be. A thread has no more than 255: the most is the
/// round number that authors write for that.
inline constexpr int kLeastRegisterLimit = 16, kMostRegisterLimit = 256;

} // namespace tile

#endif // TILE_TARGET_REGISTERLIMIT_H
