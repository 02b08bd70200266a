//===- Workspace.h - where lies what is between kernels -------------------===//
#ifndef TILE_COMPILER_FUNCTIONS_WORKSPACE_H
#define TILE_COMPILER_FUNCTIONS_WORKSPACE_H

#include "compiler/functions/TensorProgram.h"

namespace tile {

/// What lies between kernels is aligned to so many bytes.
inline constexpr int64_t kWorkspaceAlignment = 256;

/// Bytes of the whole; `offsets` gets where each buffer is. Two share memory if no kernel
/// runs while both are needed: kernels run in order. Nothing if it does not fit 64 bits.
std::optional<int64_t> planWorkspace(const TensorProgram &program, const graph::Bindings &sizes,
                                     std::vector<int64_t> &offsets);

} // namespace tile

#endif // TILE_COMPILER_FUNCTIONS_WORKSPACE_H
