//===- Driver.h - the CUDA driver, for libtile_rt -------------------------===//
//
// The few functions that launching needs, found in libcuda.so.1 when it is first asked for.
// Nothing of LLVM, no exceptions; failures are sentences.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_AHEAD_DRIVER_H
#define TILE_RUNTIME_AHEAD_DRIVER_H

#include "runtime/CudaTypes.h"
#include "tile/tile.h"
#include <string>

namespace tile::ahead {

using namespace cuda;

/// What went wrong: a status and a sentence for people.
struct Failure {
  tile_status status = TILE_OK;
  std::string message;
  explicit operator bool() const { return status != TILE_OK; }
};

struct Driver {
  Result (*cuInit)(unsigned);
  Result (*cuDriverGetVersion)(int *);
  Result (*cuGetErrorName)(Result, const char **);
  Result (*cuGetErrorString)(Result, const char **);
  Result (*cuDeviceGet)(Device *, int);
  Result (*cuDeviceGetName)(char *, int, Device);
  Result (*cuDeviceGetAttribute)(int *, DeviceAttribute, Device);
  Result (*cuDevicePrimaryCtxRetain)(Context *, Device);
  Result (*cuCtxGetCurrent)(Context *);
  Result (*cuCtxPushCurrent)(Context);
  Result (*cuCtxPopCurrent)(Context *);
  Result (*cuCtxGetDevice)(Device *);
  Result (*cuCtxGetId)(Context, unsigned long long *);
  Result (*cuModuleLoadDataEx)(Module *, const void *, unsigned, JitOption *, void **);
  Result (*cuModuleUnload)(Module);
  Result (*cuModuleGetFunction)(Function *, Module, const char *);
  Result (*cuFuncGetAttribute)(int *, FunctionAttribute, Function);
  Result (*cuFuncSetAttribute)(Function, FunctionAttribute, int);
  Result (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *, Function, int, size_t);
  Result (*cuOccupancyMaxActiveClusters)(int *, Function, const LaunchConfig *);
  Result (*cuTensorMapEncodeTiled)(TensorMap *, TensorMapDataType, unsigned, void *,
                                   const uint64_t *, const uint64_t *, const uint32_t *,
                                   const uint32_t *, TensorMapInterleave, TensorMapSwizzle,
                                   TensorMapL2Promotion, TensorMapFloatOobFill);
  Result (*cuLaunchKernelEx)(const LaunchConfig *, Function, void **, void **);
  Result (*cuMemAllocAsync)(DevicePtr *, size_t, Stream);
  Result (*cuMemFreeAsync)(DevicePtr, Stream);
  Result (*cuMemsetD8Async)(DevicePtr, unsigned char, size_t, Stream);
  int version = 0;

  /// Null, with the reason, where there is none that can be used. Any thread.
  static const Driver *get(Failure &failure);
  /// The failure of a call of the driver.
  Failure failed(Result result, const std::string &what) const;
};

} // namespace tile::ahead

#endif // TILE_RUNTIME_AHEAD_DRIVER_H
