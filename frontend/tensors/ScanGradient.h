//===- ScanGradient.h - gradients of what is combined so far --------------===//
#ifndef TILE_FRONTEND_TENSORS_SCANGRADIENT_H
#define TILE_FRONTEND_TENSORS_SCANGRADIENT_H

#include "frontend/tensors/Tracer.h"

namespace tile::tensors {

/// The derivative by what was scanned, of one by all that the scan gave.
Result scanGradient(Tracer &tracer, graph::ScanOp op, const PyValue &derivative);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_SCANGRADIENT_H
