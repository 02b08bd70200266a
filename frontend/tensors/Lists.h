//===- Lists.h - numbers that the source lists, as tensors ------------------===//
#ifndef TILE_FRONTEND_TENSORS_LISTS_H
#define TILE_FRONTEND_TENSORS_LISTS_H

#include "frontend/tensors/Tracer.h"

namespace tile::tensors {

/// A number, or a list of numbers or of such lists, as a tensor; null: of the type that they have.
Result ofList(Tracer &tracer, const PyValue &list, mlir::Type element);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_LISTS_H
