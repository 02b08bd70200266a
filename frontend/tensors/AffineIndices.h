//===- AffineIndices.h - gradients of elements at computed places ---------===//
//
// Where each index is a sum of places times whole numbers, as in slices with steps and in patches
// of pictures, who took an element is found by solving for one of the places. What nobody took, or
// somebody several times, then needs no exception.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TENSORS_AFFINEINDICES_H
#define TILE_FRONTEND_TENSORS_AFFINEINDICES_H

#include "frontend/tensors/Tracer.h"

namespace tile::tensors {

/// The derivative by what was taken from; `derivative` has all elements of the result. Nothing if
/// the indices are not of that kind.
std::optional<Result> affineGradient(Tracer &tracer, graph::GatherOp op, const PyValue &derivative);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_AFFINEINDICES_H
