//===- ExchangeBytes.h - how much of an exchange is done at a time --------===//
//
// Asked for by tile-fit-shared-memory, beside the attributes of ir/Attributes.h.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_EXCHANGEBYTES_H
#define TILE_IR_EXCHANGEBYTES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// i32, on a module: bytes of an exchange at a time, at most, outside of loops that multiply
/// (passes/memory/Scratch.h); absent: as many as anywhere.
inline constexpr llvm::StringLiteral kExchangeBytesAttr = "tile.exchange_bytes";

} // namespace tile

#endif // TILE_IR_EXCHANGEBYTES_H
