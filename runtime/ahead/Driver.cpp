//===- Driver.cpp - the CUDA driver, for libtile_rt -----------------------===//
#include "runtime/ahead/Driver.h"
#include <dlfcn.h>

using namespace tile::ahead;

namespace {
struct Opened {
  Driver driver = {};
  Failure failure;
  Opened();
};
} // namespace

Opened::Opened() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    const char *why = dlerror();
    failure = {TILE_NO_DRIVER, std::string("no CUDA driver: cannot open `libcuda.so.1` (") +
                                   (why ? why : "") + ")"};
    return;
  }
  auto find = [&](auto &function, const char *symbol) {
    void *address = dlsym(library, symbol);
    if (!address && !failure)
      failure = {TILE_DRIVER_TOO_OLD,
                 std::string("the CUDA driver has no `") + symbol + "`: it must be of CUDA 12.0"};
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
#define FIND(name, symbol) find(driver.name, symbol)
  FIND(cuInit, "cuInit");
  FIND(cuDriverGetVersion, "cuDriverGetVersion");
  FIND(cuGetErrorName, "cuGetErrorName");
  FIND(cuGetErrorString, "cuGetErrorString");
  FIND(cuDeviceGet, "cuDeviceGet");
  FIND(cuDeviceGetName, "cuDeviceGetName");
  FIND(cuDeviceGetAttribute, "cuDeviceGetAttribute");
  FIND(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  FIND(cuCtxGetCurrent, "cuCtxGetCurrent");
  FIND(cuCtxPushCurrent, "cuCtxPushCurrent_v2");
  FIND(cuCtxPopCurrent, "cuCtxPopCurrent_v2");
  FIND(cuCtxGetDevice, "cuCtxGetDevice");
  FIND(cuCtxGetId, "cuCtxGetId");
  FIND(cuModuleLoadDataEx, "cuModuleLoadDataEx");
  FIND(cuModuleUnload, "cuModuleUnload");
  FIND(cuModuleGetFunction, "cuModuleGetFunction");
  FIND(cuFuncGetAttribute, "cuFuncGetAttribute");
  FIND(cuFuncSetAttribute, "cuFuncSetAttribute");
  FIND(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  FIND(cuOccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters");
  FIND(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  FIND(cuLaunchKernelEx, "cuLaunchKernelEx");
  FIND(cuMemAllocAsync, "cuMemAllocAsync");
  FIND(cuMemFreeAsync, "cuMemFreeAsync");
  FIND(cuMemsetD8Async, "cuMemsetD8Async");
#undef FIND
  if (failure)
    return;
  if (Result result = driver.cuInit(0); result != Result::Success) {
    failure = driver.failed(result, "the CUDA driver does not start");
    failure.status = TILE_NO_DRIVER;
  } else if (Result asked = driver.cuDriverGetVersion(&driver.version); asked != Result::Success) {
    failure = driver.failed(asked, "cuDriverGetVersion");
  }
}

const Driver *Driver::get(Failure &failure) {
  // Never destroyed: other threads may be working at exit.
  static const Opened &opened = *new Opened;
  if (!opened.failure)
    return &opened.driver;
  failure = opened.failure;
  return nullptr;
}

Failure Driver::failed(Result result, const std::string &what) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != Result::Success || !name)
    name = "an unknown error";
  if (cuGetErrorString(result, &text) != Result::Success || !text)
    text = "the driver does not know it";
  Failure failure;
  failure.status = result == Result::OutOfMemory ? TILE_OUT_OF_MEMORY
                   : result == Result::LaunchOutOfResources || result == Result::InvalidClusterSize
                       ? TILE_RESOURCES
                   : result == Result::InvalidPtx || result == Result::UnsupportedPtxVersion ||
                           result == Result::InvalidImage || result == Result::NoBinaryForGpu
                       ? TILE_PTX_REJECTED
                       : TILE_DRIVER_ERROR;
  failure.message = what + ": " + name + ": " + text;
  return failure;
}
