//===- WarpRoles.h - how many warps a kernel gets, and what they do -------===//
#ifndef TILE_TARGET_WARPROLES_H
#define TILE_TARGET_WARPROLES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace tile {

/// Default numbers of warps and of pipeline stages, where nobody asks for others.
inline constexpr int kDefaultWarps = 4, kDefaultStages = 3;

/// On sm_90a, what warps of a kernel with products do. PingPong and Shared are wishes: where the
/// kernel does not allow it, warps cooperate, or do as it pays.
enum class WarpRoles {
  Auto,        ///< as it pays
  Cooperative, ///< one warp copies, the others share every block
  PingPong,    ///< ... or two groups of them take blocks by turns
  None,        ///< all warps do everything
  Shared,      ///< neighbouring programs share a thread block, and what it copies
  Apart,       ///< as it pays, but for that
};
/// Whether it is for the compiler to choose which warps only copy, and how many compute.
inline bool isFree(WarpRoles roles) {
  return roles == WarpRoles::Auto || roles == WarpRoles::Shared || roles == WarpRoles::Apart;
}
/// "auto", "cooperative", "pingpong", "none", "shared", "apart".
llvm::StringRef nameOf(WarpRoles roles);
/// False if there are no such roles.
bool readWarpRoles(llvm::StringRef text, WarpRoles &roles);
/// The rest of a message about `warps`, which are several warpgroups but no power of two: how as
/// many share what they copy. Empty for all others.
std::string insteadOfWarps(int64_t warps);

} // namespace tile

#endif // TILE_TARGET_WARPROLES_H
