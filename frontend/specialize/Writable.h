//===- Writable.h - memory that nobody writes -----------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_WRITABLE_H
#define TILE_FRONTEND_SPECIALIZE_WRITABLE_H

#include "frontend/specialize/Builtins.h"

namespace tile::specialize {

/// Whether memory may be written there: not by a pointer to constant memory, nor by what casts
/// have made of one. Reports what may not.
bool writable(BuiltinCall &c, const Tensor &ptr);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_WRITABLE_H
