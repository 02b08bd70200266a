//===- RowMajorBuffer.h - blocks in shared memory as they are in global memory ---===//
#ifndef TILE_PASSES_COPIES_ROWMAJORBUFFER_H
#define TILE_PASSES_COPIES_ROWMAJORBUFFER_H

#include "ir/CtaDialect.h"

namespace tile {

/// A buffer for blocks of this type with their elements in order, the last dimension fastest.
cta::BufferType rowMajorBuffer(mlir::RankedTensorType type);

} // namespace tile

#endif // TILE_PASSES_COPIES_ROWMAJORBUFFER_H
