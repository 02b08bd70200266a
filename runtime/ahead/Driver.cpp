//===- Driver.cpp - the CUDA driver, for libtile_rt -----------------------===//
#include "runtime/ahead/Driver.h"
#include <dlfcn.h>

using namespace tile;
using namespace tile::ahead;

namespace {
struct Opened {
  Driver driver{};
  Failure failure;
  Opened();
};
} // namespace

/// Open once it has been opened.
static std::atomic<void *> library{nullptr};

void *ahead::findInDriver(const char *symbol) {
  return dlsym(library.load(std::memory_order_acquire), symbol);
}

Opened::Opened() {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    const char *why = dlerror();
    failure = {TILE_NO_DRIVER, std::string("no CUDA driver: cannot open `libcuda.so.1` (") +
                                   (why ? why : "") + ")"};
    return;
  }
  auto find = [&](auto &function, const char *symbol) {
    void *address = findInDriver(symbol);
    if (!address && !failure)
      failure = {TILE_DRIVER_TOO_OLD,
                 std::string("the CUDA driver has no `") + symbol + "`: it must be of CUDA 12.0"};
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
#define FIND(name, symbol) find(driver.name, symbol)
  FIND(cuInit, "cuInit");
  FIND(cuDriverGetVersion, "cuDriverGetVersion");
  FIND(cuDeviceGetAttribute, "cuDeviceGetAttribute");
  FIND(cuCtxGetCurrent, "cuCtxGetCurrent");
  FIND(cuCtxGetDevice, "cuCtxGetDevice");
  FIND(cuCtxGetId, "cuCtxGetId");
  FIND(cuModuleLoadDataEx, "cuModuleLoadDataEx");
  FIND(cuModuleGetFunction, "cuModuleGetFunction");
  FIND(cuLaunchKernelEx, "cuLaunchKernelEx");
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
