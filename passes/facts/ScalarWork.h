//===- ScalarWork.h - what one thread can do by itself --------------------===//
#ifndef TILE_PASSES_FACTS_SCALARWORK_H
#define TILE_PASSES_FACTS_SCALARWORK_H

namespace mlir {
class Operation;
}

namespace tile {

/// An op that fills a ring: what the producer of a kernel is there for.
bool fillsRing(mlir::Operation *op);
/// What one thread can do by itself: scalars, control flow, filling rings.
bool isScalarWork(mlir::Operation *op);

} // namespace tile

#endif // TILE_PASSES_FACTS_SCALARWORK_H
