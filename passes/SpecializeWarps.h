//===- SpecializeWarps.h - what the producer of a kernel can do -----------===//
#ifndef TILE_PASSES_SPECIALIZEWARPS_H
#define TILE_PASSES_SPECIALIZEWARPS_H

namespace mlir {
class Operation;
}

namespace tile {

/// What one thread can do by itself: scalars and control flow.
bool isScalarWork(mlir::Operation *op);

} // namespace tile

#endif // TILE_PASSES_SPECIALIZEWARPS_H
