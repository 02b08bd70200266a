//===- KernelList.h - the kernels of a file -------------------------------===//
#ifndef TILE_TOOLS_TILEC_KERNELLIST_H
#define TILE_TOOLS_TILEC_KERNELLIST_H

#include "frontend/AST.h"
#include <vector>

namespace tilec {

/// The `@triton.jit` functions of a module that say the type of every
/// parameter, in order: those that compile with no signature. The others are
/// helpers of these, or need to be told.
std::vector<const tile::ast::FunctionDef *> listTypedKernels(const tile::ast::Module &module);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_KERNELLIST_H
