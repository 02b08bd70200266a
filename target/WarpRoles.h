//===- WarpRoles.h - how many warps a kernel gets, and what they do -------===//
#ifndef TILE_TARGET_WARPROLES_H
#define TILE_TARGET_WARPROLES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// Default numbers of warps and of pipeline stages, where nobody asks for others.
inline constexpr int kDefaultWarps = 4, kDefaultStages = 3;

/// On sm_90a, what warps of a kernel with products do. PingPong is a wish: where the
/// kernel does not allow it, warps cooperate.
enum class WarpRoles {
  Auto,        ///< as it pays
  Cooperative, ///< one warp copies, the others share every block
  PingPong,    ///< ... or two groups of them take blocks by turns
  None,        ///< all warps do everything
};
/// "auto", "cooperative", "pingpong", "none".
llvm::StringRef nameOf(WarpRoles roles);
/// False if there are no such roles.
bool readWarpRoles(llvm::StringRef text, WarpRoles &roles);

} // namespace tile

#endif // TILE_TARGET_WARPROLES_H
