//===- Library.h - functions that kernels of the library compute -----------===//
#ifndef TILE_FRONTEND_TENSORS_LIBRARY_H
#define TILE_FRONTEND_TENSORS_LIBRARY_H

#include "frontend/tensors/Tracer.h"

namespace tile::tensors {

/// What a function of library.tile makes of tensors and numbers, traced: launches of its kernels
/// and what is computed around them.
Result callLibrary(Tracer &tracer, StringRef function, std::vector<PyValue> arguments);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_LIBRARY_H
