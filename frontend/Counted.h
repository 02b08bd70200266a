//===- Counted.h - numbers of things in messages ---------------------------===//
#ifndef TILE_FRONTEND_COUNTED_H
#define TILE_FRONTEND_COUNTED_H

#include "text/Format.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace tile {

/// "1 value", "3 values".
inline std::string counted(uint64_t n, llvm::StringRef noun) {
  return formatted("{} {}{}", n, noun, n == 1 ? "" : "s");
}

} // namespace tile

#endif // TILE_FRONTEND_COUNTED_H
