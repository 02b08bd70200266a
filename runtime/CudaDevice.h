//===- CudaDevice.h - host functions on a GPU -----------------------------===//
#ifndef TILE_RUNTIME_CUDADEVICE_H
#define TILE_RUNTIME_CUDADEVICE_H

#include "runtime/CompileService.h"
#include "runtime/Device.h"

namespace tile::runtime {

/// What `createCudaDevice` does, with a driver, a compiler and a cost model of the caller's.
llvm::Expected<std::unique_ptr<Device>> createCudaDevice(const cuda::CudaApi &api,
                                                         CompileFunction compiler,
                                                         const CudaDeviceOptions &options,
                                                         EstimateFunction estimator = nullptr);

} // namespace tile::runtime

#endif // TILE_RUNTIME_CUDADEVICE_H
