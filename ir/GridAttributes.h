//===- GridAttributes.h - what kernels know of the grids beside them ------===//
//
// Discardable attributes like those of Attributes.h, of kernels that are launched one behind
// the other.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_GRIDATTRIBUTES_H
#define TILE_IR_GRIDATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// Unit, on the module: once the kernel has waited for the grids before it, the one behind it
/// may start (with kDependentLaunchAttr).
inline constexpr llvm::StringLiteral kAnnouncesAttr = "tile.announces";
/// Unit, on a pointer parameter: the grid before the kernel does not write what lies there, so
/// that it is worth asking for before that has ended.
inline constexpr llvm::StringLiteral kEarlyAttr = "tile.early";

} // namespace tile

#endif // TILE_IR_GRIDATTRIBUTES_H
