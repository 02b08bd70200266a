//===- WarmKernels.h - several kernels compiled at the same time ----------===//
#ifndef TILE_RUNTIME_CAPI_WARMKERNELS_H
#define TILE_RUNTIME_CAPI_WARMKERNELS_H

#include "compiler/functions/TensorProgram.h"
#include "runtime/CompileService.h"

namespace tile::runtime::capi {

/// Compiles the kernels of some launches and loads them, by as many threads as the machine has:
/// most of the time until a function has run first is that of the driver's compiler, which knows
/// nothing of the kernel behind. What is returned keeps them; who asks the service for one of them
/// finds it. Errors are for that one to see, too.
std::vector<std::shared_ptr<const LoadedKernel>>
warmKernels(CompileService &service, llvm::ArrayRef<const TensorLaunch *> launches,
            const std::shared_ptr<Context> &where);

} // namespace tile::runtime::capi

#endif // TILE_RUNTIME_CAPI_WARMKERNELS_H
