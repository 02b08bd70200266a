//===- LaunchAttributes.h - how a kernel is launched beside others -*- C++ -*-//
#ifndef TILE_IR_LAUNCHATTRIBUTES_H
#define TILE_IR_LAUNCHATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// Unit, with `tile.dependent_launch`: another kernel may still run when programs of this one
/// start, and all of them start at once. What they copy first is asked for before they wait.
inline constexpr llvm::StringLiteral kFollowsAttr = "tile.follows";

} // namespace tile

#endif // TILE_IR_LAUNCHATTRIBUTES_H
