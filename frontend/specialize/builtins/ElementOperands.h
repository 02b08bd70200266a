//===- ElementOperands.h - functions of elements: operands and results ----===//
#ifndef TILE_FRONTEND_SPECIALIZE_BUILTINS_ELEMENTOPERANDS_H
#define TILE_FRONTEND_SPECIALIZE_BUILTINS_ELEMENTOPERANDS_H

#include "frontend/specialize/Builtins.h"

namespace tile::specialize {

/// Tensors of one shape from a sequence of tensors and numbers; false after an error.
bool elementOperands(BuiltinCall &c, llvm::ArrayRef<PyValue> values,
                     llvm::SmallVectorImpl<Tensor> &tensors);

/// How many elements side by side a function takes at once, as argument `i` says.
std::optional<unsigned> packOf(BuiltinCall &c, unsigned i);

/// What a function of elements gives: one value, or a tuple.
PyValue oneOrTuple(BuiltinCall &c, bool single, mlir::ValueRange values,
                   llvm::ArrayRef<DType> types);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_BUILTINS_ELEMENTOPERANDS_H
