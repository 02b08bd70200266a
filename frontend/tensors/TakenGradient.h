//===- TakenGradient.h - gradients of elements that tensors index ---------===//
//
// Which elements were taken, and how often, only a call knows. An element's derivative is the sum
// over all that may have taken it, of those whose index is its place: a product with rows of one
// where indices are of whole rows, else a sum of what is compared. Nothing is scattered, so that
// the sums are always added up in the same order.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TENSORS_TAKENGRADIENT_H
#define TILE_FRONTEND_TENSORS_TAKENGRADIENT_H

#include "frontend/tensors/Tracer.h"

namespace tile::tensors {

/// The derivative by what was taken from; `derivative` has all elements of the result.
Result takenGradient(Tracer &tracer, graph::GatherOp op, const PyValue &derivative);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_TAKENGRADIENT_H
