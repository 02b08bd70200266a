//===- Targets.h - the NVIDIA targets that code can be made for -----------===//
#ifndef TILE_COMPILER_TARGETS_H
#define TILE_COMPILER_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tile {

struct Target {
  llvm::StringLiteral name;    ///< as ptxas spells it: `sm_90a`
  int capability;              ///< 10 * major + minor: 90
  char variant;                ///< 'a' architecture-, 'f' family-specific, 0 portable
  int ptxVersion;              ///< lowest PTX ISA that knows it, times 10: 80
  int maxSharedBytes;          ///< that one thread block can have
  llvm::StringLiteral example; ///< what it is found in
};

/// All known targets, oldest first.
llvm::ArrayRef<Target> allTargets();
/// Null if there is none of that name.
const Target *findTarget(llvm::StringRef name);
/// One sentence on why `name` is no target, with what would work.
std::string describeUnknownTarget(llvm::StringRef name);

} // namespace tile

#endif // TILE_COMPILER_TARGETS_H
