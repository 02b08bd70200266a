//===- SpecializeWarps.h - what the producer of a kernel can do -----------===//
#ifndef TILE_PASSES_SPECIALIZEWARPS_H
#define TILE_PASSES_SPECIALIZEWARPS_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class Operation;
}

namespace tile {

/// On a load of a number (unit): the kernel does not write what it reads, so it may be
/// loaded earlier.
inline constexpr llvm::StringLiteral kMayRunAheadAttr = "cta.may_run_ahead";

/// What one thread can do by itself: scalars and control flow.
bool isScalarWork(mlir::Operation *op);

} // namespace tile

#endif // TILE_PASSES_SPECIALIZEWARPS_H
