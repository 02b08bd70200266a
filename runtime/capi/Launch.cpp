//===- Launch.cpp - tile.h: devices, functions, launches, memory ----------===//
#include "runtime/LaunchWatch.h"
#include "runtime/Memory.h"
#include "runtime/capi/Internal.h"

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;
using cuda::CudaApi;

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

tile_status tile_driver_version(int32_t *version) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(version);
    *version = 0;
    auto api = CudaApi::get();
    if (!api)
      return api.takeError();
    *version = api->version();
    return llvm::Error::success();
  });
}

tile_status tile_device_count(int32_t *count) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(count);
    *count = 0;
    auto api = CudaApi::get();
    if (!api)
      return api.takeError();
    auto devices = deviceCount(*api);
    if (!devices)
      return devices.takeError();
    *count = *devices;
    return llvm::Error::success();
  });
}

tile_status tile_device_get_info(int32_t ordinal, tile_device_info *info) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(info);
    auto api = CudaApi::get();
    if (!api)
      return api.takeError();
    auto device = DeviceInfo::query(*api, ordinal);
    if (!device)
      return device.takeError();
    tile_device_info filled = {};
    device->name.copy(filled.name, sizeof filled.name - 1);
    device->target().copy(filled.target, sizeof filled.target - 1);
    filled.compute_major = device->major;
    filled.compute_minor = device->minor;
    filled.memory_bytes = device->memoryBytes;
    filled.multiprocessors = device->multiprocessors;
    filled.shared_bytes_per_block = device->sharedBytesPerBlockOptin;
    filled.l2_bytes = device->l2Bytes;
    return writeInfo(filled, info);
  });
}

namespace {
/// Contexts seen so far, by the id that the driver never gives again.
struct KnownContexts {
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<Context>> byId;
  std::shared_ptr<Context> primary; ///< of device 0
};
} // namespace

llvm::Expected<std::shared_ptr<Context>> capi::contextFor(void *given) {
  auto api = CudaApi::get();
  if (!api)
    return api.takeError();
  auto handle = static_cast<cuda::Context>(given);
  if (!handle)
    TILE_CUDA_TRY(*api, cuCtxGetCurrent(&handle));

  // Never destroyed: other threads may be working at exit.
  static KnownContexts &known = *new KnownContexts;
  std::lock_guard<std::mutex> lock(known.mutex);
  if (!handle) {
    if (known.primary)
      return known.primary;
    auto context = Context::primary(*api, 0);
    if (context)
      known.primary = *context;
    return context;
  }
  unsigned long long id = 0;
  TILE_CUDA_TRY(*api, cuCtxGetId(handle, &id));
  std::shared_ptr<Context> &entry = known.byId[id];
  if (entry)
    return entry;
  auto context = Context::borrow(*api, handle);
  if (context)
    entry = *context;
  return context;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

tile_status tile_function_load(tile_kernel *kernel, void *context, tile_function **function) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(function);
    *function = nullptr;
    TILE_REQUIRE(kernel);
    auto where = contextFor(context);
    if (!where)
      return where.takeError();
    auto loaded = kernel->shared->loadOn(
        std::move(*where), kernel->compiler ? &kernel->compiler->service.observer() : nullptr);
    if (!loaded)
      return loaded.takeError();
    *function = new tile_function{kernel->compiler, std::move(*loaded)};
    return llvm::Error::success();
  });
}

void tile_function_destroy(tile_function *function) { delete function; }

tile_status tile_function_get_info(const tile_function *function, tile_function_info *info) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(function);
    TILE_REQUIRE(info);
    const LoadedKernel &loaded = *function->loaded;
    tile_function_info filled = {};
    filled.context = loaded.context()->handle();
    filled.handle = loaded.function();
    filled.registers = loaded.registers();
    filled.local_bytes = loaded.localBytes();
    filled.from_cubin = loaded.isFromMachineCode();
    filled.load_ms = loaded.loadMilliseconds();
    return writeInfo(filled, info);
  });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Null for kernels that no compiler made.
static const CompileService *serviceOf(const std::shared_ptr<tile_compiler> &compiler) {
  return compiler ? &compiler->service : nullptr;
}

static tile_launch_options defaultLaunchOptions() { return {sizeof(tile_launch_options), -1}; }
TILE_DEFINE_OPTIONS_INIT(launch, defaultLaunchOptions(), sizeof(tile_launch_options))

llvm::Error capi::convertLaunchOptions(const tile_launch_options &options, LaunchOptions &result) {
  tile_launch_options chosen;
  tile_launch_options_init(&chosen);
  if (llvm::Error error = readOptions(&options, chosen))
    return error;
  if (chosen.dependent >= 0)
    result.dependent = chosen.dependent != 0;
  return llvm::Error::success();
}

tile_status tile_function_launch(const tile_function *function, void *stream,
                                 const uint32_t grid[3], const void *const *arguments,
                                 size_t numArguments, const tile_launch_options *options) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(function);
    TILE_REQUIRE(grid);
    if (numArguments)
      TILE_REQUIRE(arguments);
    LaunchOptions converted;
    if (LLVM_UNLIKELY(options))
      if (llvm::Error error = convertLaunchOptions(*options, converted))
        return error;
    auto where = static_cast<cuda::Stream>(stream);
    llvm::ArrayRef values(arguments, numArguments);
    return watched(serviceOf(function->compiler), *function->loaded, where, grid, values,
                   [&] { return function->loaded->launch(where, grid, values, converted); });
  });
}

tile_status tile_function_check_sizes(const tile_function *function, const size_t *sizes,
                                      size_t numArguments) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(function);
    if (numArguments)
      TILE_REQUIRE(sizes);
    return function->loaded->checkSizes(0, llvm::ArrayRef(sizes, numArguments));
  });
}

tile_status tile_launch_create(const tile_function *function, tile_launch **launch) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(launch);
    *launch = nullptr;
    TILE_REQUIRE(function);
    *launch = new tile_launch{function->compiler, PreparedLaunch(function->loaded)};
    return llvm::Error::success();
  });
}

void tile_launch_destroy(tile_launch *launch) { delete launch; }

tile_status tile_launch_set_argument(tile_launch *launch, size_t index, const void *value) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(launch);
    return launch->launch.setArgument(index, value);
  });
}

tile_status tile_launch_set_arguments(tile_launch *launch, const void *const *values,
                                      size_t numValues) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(launch);
    if (numValues)
      TILE_REQUIRE(values);
    return launch->launch.setArguments(llvm::ArrayRef(values, numValues));
  });
}

tile_status tile_launch_check_sizes(const tile_launch *launch, size_t first, const size_t *sizes,
                                    size_t numValues) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(launch);
    if (numValues)
      TILE_REQUIRE(sizes);
    return launch->launch.loaded().checkSizes(first, llvm::ArrayRef(sizes, numValues));
  });
}

tile_status tile_launch_set_grid(tile_launch *launch, const uint32_t grid[3]) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(launch);
    TILE_REQUIRE(grid);
    launch->launch.setGrid(grid[0], grid[1], grid[2]);
    return llvm::Error::success();
  });
}

tile_status tile_launch_set_options(tile_launch *launch, const tile_launch_options *options) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(launch);
    LaunchOptions converted;
    if (options)
      if (llvm::Error error = convertLaunchOptions(*options, converted))
        return error;
    launch->launch.setOptions(converted);
    return llvm::Error::success();
  });
}

tile_status tile_launch_run(tile_launch *launch, void *stream) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(launch);
    auto where = static_cast<cuda::Stream>(stream);
    return watched(serviceOf(launch->compiler), launch->launch.loaded(), where, nullptr, {},
                   [&] { return launch->launch.launch(where); });
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Runs `body` with the context that `handle` means.
template <typename Body> static tile_status inContext(void *handle, Body body) {
  return guarded([&]() -> llvm::Error {
    auto context = contextFor(handle);
    if (!context)
      return context.takeError();
    return body(**context);
  });
}

static cuda::DevicePtr address(const void *pointer) {
  return reinterpret_cast<cuda::DevicePtr>(pointer);
}

tile_status tile_memory_alloc(void *context, size_t bytes, void **pointer) {
  return inContext(context, [&](const Context &where) -> llvm::Error {
    TILE_REQUIRE(pointer);
    *pointer = nullptr;
    auto allocated = allocateDevice(where, bytes);
    if (!allocated)
      return allocated.takeError();
    *pointer = reinterpret_cast<void *>(*allocated);
    return llvm::Error::success();
  });
}

tile_status tile_memory_free(void *context, void *pointer) {
  return inContext(context,
                   [&](const Context &where) { return freeDevice(where, address(pointer)); });
}

tile_status tile_memory_upload(void *context, void *device, const void *host, size_t bytes,
                               void *stream) {
  return inContext(context, [&](const Context &where) -> llvm::Error {
    if (bytes)
      TILE_REQUIRE(host);
    return copyToDevice(where, address(device), host, bytes, static_cast<cuda::Stream>(stream));
  });
}

tile_status tile_memory_download(void *context, void *host, const void *device, size_t bytes,
                                 void *stream) {
  return inContext(context, [&](const Context &where) -> llvm::Error {
    if (bytes)
      TILE_REQUIRE(host);
    return copyToHost(where, host, address(device), bytes, static_cast<cuda::Stream>(stream));
  });
}

tile_status tile_memory_set(void *context, void *device, int32_t byte, size_t bytes, void *stream) {
  return inContext(context, [&](const Context &where) {
    return fillDevice(where, address(device), static_cast<unsigned char>(byte), bytes,
                      static_cast<cuda::Stream>(stream));
  });
}

tile_status tile_synchronize(void *context, void *stream) {
  return inContext(context, [&](const Context &where) {
    return synchronize(where, static_cast<cuda::Stream>(stream));
  });
}
