//===- MemoryOperands.h - operands of accesses to memory ------------------===//
//
// What loads, stores and atomics have in common. Each reports an argument that is none.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_BUILTINS_MEMORYOPERANDS_H
#define TILE_FRONTEND_SPECIALIZE_BUILTINS_MEMORYOPERANDS_H

#include "frontend/specialize/Builtins.h"

namespace tile::specialize {

/// The name of a choice, or "" for what leaves it open: kernels pass 0 and False
/// besides None.
std::optional<std::string> choice(BuiltinCall &c, unsigned i);
/// A pointer or block of pointers.
Tensor pointer(BuiltinCall &c, unsigned i);
/// A mask, as int1.
Tensor mask(BuiltinCall &c, unsigned i);
/// Whether `extra`, argument `i`, is a block only where the pointer is one.
bool scalarMaskOnly(BuiltinCall &c, const Tensor &ptr, const Tensor &extra, unsigned i);
/// The value to write: of the pointee's type and the pointer's shape.
Tensor storedValue(BuiltinCall &c, unsigned i, const Tensor &ptr);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_BUILTINS_MEMORYOPERANDS_H
