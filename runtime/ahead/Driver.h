//===- Driver.h - the CUDA driver, for libtile_rt -------------------------===//
//
// The few functions that launching needs, found in libcuda.so.1: those of every launch when the
// driver is first asked for, the others when they are called: looking for all 25 takes 16 to 20 us,
// of a first launch that takes 150 to 200. Nothing of LLVM, no exceptions; failures are sentences.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_AHEAD_DRIVER_H
#define TILE_RUNTIME_AHEAD_DRIVER_H

#include "runtime/CudaTypes.h"
#include "tile/tile.h"
#include <atomic>
#include <string>

namespace tile::ahead {

using namespace cuda;

/// What went wrong: a status and a sentence for people.
struct Failure {
  tile_status status = TILE_OK;
  std::string message;
  explicit operator bool() const { return status != TILE_OK; }
};

/// The driver's function of this name, or null.
void *findInDriver(const char *symbol);

/// A function that few launches call. Drivers that have what Driver::get looks for have it, too.
template <typename... Args> class Late {
public:
  constexpr explicit Late(const char *symbol) : symbol(symbol) {}
  Result operator()(Args... args) const {
    auto known = function.load(std::memory_order_acquire);
    if (!known) {
      known = reinterpret_cast<Function>(findInDriver(symbol));
      function.store(known, std::memory_order_release);
    }
    return known ? known(args...) : Result::NotFound;
  }

private:
  using Function = Result (*)(Args...);
  const char *symbol;
  mutable std::atomic<Function> function{nullptr};
};

struct Driver {
  Result (*cuInit)(unsigned);
  Result (*cuDriverGetVersion)(int *);
  Result (*cuDeviceGetAttribute)(int *, DeviceAttribute, Device);
  Result (*cuCtxGetCurrent)(Context *);
  Result (*cuCtxGetDevice)(Device *);
  Result (*cuCtxGetId)(Context, unsigned long long *);
  Result (*cuModuleLoadDataEx)(Module *, const void *, unsigned, JitOption *, void **);
  Result (*cuModuleGetFunction)(Function *, Module, const char *);
  Result (*cuLaunchKernelEx)(const LaunchConfig *, Function, void **, void **);

  Late<Result, const char **> cuGetErrorName{"cuGetErrorName"};
  Late<Result, const char **> cuGetErrorString{"cuGetErrorString"};
  Late<Device *, int> cuDeviceGet{"cuDeviceGet"};
  Late<char *, int, Device> cuDeviceGetName{"cuDeviceGetName"};
  Late<Context *, Device> cuDevicePrimaryCtxRetain{"cuDevicePrimaryCtxRetain"};
  Late<Context> cuCtxPushCurrent{"cuCtxPushCurrent_v2"};
  Late<Context *> cuCtxPopCurrent{"cuCtxPopCurrent_v2"};
  Late<Module> cuModuleUnload{"cuModuleUnload"};
  Late<int *, FunctionAttribute, Function> cuFuncGetAttribute{"cuFuncGetAttribute"};
  Late<Function, FunctionAttribute, int> cuFuncSetAttribute{"cuFuncSetAttribute"};
  Late<int *, Function, int, size_t> cuOccupancyMaxActiveBlocksPerMultiprocessor{
      "cuOccupancyMaxActiveBlocksPerMultiprocessor"};
  Late<int *, Function, const LaunchConfig *> cuOccupancyMaxActiveClusters{
      "cuOccupancyMaxActiveClusters"};
  Late<TensorMap *, TensorMapDataType, unsigned, void *, const uint64_t *, const uint64_t *,
       const uint32_t *, const uint32_t *, TensorMapInterleave, TensorMapSwizzle,
       TensorMapL2Promotion, TensorMapFloatOobFill>
      cuTensorMapEncodeTiled{"cuTensorMapEncodeTiled"};
  Late<DevicePtr *, size_t, Stream> cuMemAllocAsync{"cuMemAllocAsync"};
  Late<DevicePtr, Stream> cuMemFreeAsync{"cuMemFreeAsync"};
  Late<DevicePtr, unsigned char, size_t, Stream> cuMemsetD8Async{"cuMemsetD8Async"};
  int version = 0;

  /// Null, with the reason, where there is none that can be used. Any thread.
  static const Driver *get(Failure &failure);
  /// The failure of a call of the driver.
  Failure failed(Result result, const std::string &what) const;
};

} // namespace tile::ahead

#endif // TILE_RUNTIME_AHEAD_DRIVER_H
