//===- Subscripts.h - parts of tensors by slices and numbers --------------===//
#ifndef TILE_FRONTEND_TENSORS_SUBSCRIPTS_H
#define TILE_FRONTEND_TENSORS_SUBSCRIPTS_H

#include "frontend/tensors/Tracer.h"

namespace tile::tensors {

/// An index of numbers and slices, dimension by dimension.
struct Subscript {
  Sizes starts, sizes;
  llvm::SmallVector<int64_t> steps;
  llvm::SmallVector<int64_t> dims; ///< what is left of them, and -1 for new ones
};

/// What `parts` mean in a tensor of that shape, which messages call `what`.
std::unique_ptr<EvalError> readSubscript(Tracer &tracer, ArrayRef<PyValue> parts,
                                         ArrayRef<Size> shape, const std::string &what,
                                         Subscript &at);
/// What the steps leave, by indices.
Result everySo(Tracer &tracer, const Operand &x, const Subscript &at);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_SUBSCRIPTS_H
