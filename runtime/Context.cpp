//===- Context.cpp --------------------------------------------------------===//
#include "runtime/Context.h"
#include "target/Target.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::runtime;
using cuda::CudaApi;
using cuda::DeviceAttribute;
using cuda::Result;

llvm::Expected<int> runtime::deviceCount(const CudaApi &api) {
  int count = 0;
  TILE_CUDA_TRY(api, cuDeviceGetCount(&count));
  return count;
}

llvm::Expected<DeviceInfo> DeviceInfo::query(const CudaApi &api, int ordinal) {
  llvm::Expected<int> count = deviceCount(api);
  if (!count)
    return count.takeError();
  if (ordinal < 0 || ordinal >= *count)
    return makeError(ErrorCode::InvalidArgument,
                     formatted("there is no device {}: the driver sees {} device{}", ordinal,
                               *count, *count == 1 ? "" : "s"));

  DeviceInfo info;
  info.ordinal = ordinal;
  cuda::Device device = 0;
  TILE_CUDA_TRY(api, cuDeviceGet(&device, ordinal));
  char name[256] = {};
  TILE_CUDA_TRY(api, cuDeviceGetName(name, sizeof(name) - 1, device));
  info.name = name;
  size_t bytes = 0;
  TILE_CUDA_TRY(api, cuDeviceTotalMem(&bytes, device));
  info.memoryBytes = bytes;

  int cluster = 0, cooperative = 0, pools = 0;
  const std::pair<DeviceAttribute, int *> attributes[] = {
      {DeviceAttribute::ComputeCapabilityMajor, &info.major},
      {DeviceAttribute::ComputeCapabilityMinor, &info.minor},
      {DeviceAttribute::MultiprocessorCount, &info.multiprocessors},
      {DeviceAttribute::MaxThreadsPerBlock, &info.maxThreadsPerBlock},
      {DeviceAttribute::MaxSharedMemoryPerBlock, &info.sharedBytesPerBlock},
      {DeviceAttribute::MaxSharedMemoryPerBlockOptin, &info.sharedBytesPerBlockOptin},
      {DeviceAttribute::MaxSharedMemoryPerMultiprocessor, &info.sharedBytesPerMultiprocessor},
      {DeviceAttribute::MaxRegistersPerBlock, &info.registersPerBlock},
      {DeviceAttribute::L2CacheSize, &info.l2Bytes},
      {DeviceAttribute::MaxGridDimX, &info.maxGrid[0]},
      {DeviceAttribute::MaxGridDimY, &info.maxGrid[1]},
      {DeviceAttribute::MaxGridDimZ, &info.maxGrid[2]},
      {DeviceAttribute::ClusterLaunch, &cluster},
      {DeviceAttribute::CooperativeLaunch, &cooperative},
      {DeviceAttribute::MemoryPoolsSupported, &pools},
  };
  for (auto [attribute, value] : attributes)
    TILE_CUDA_TRY(api, cuDeviceGetAttribute(value, attribute, device));
  info.clusterLaunch = cluster != 0;
  info.cooperativeLaunch = cooperative != 0;
  info.memoryPools = pools != 0;
  return info;
}

std::string DeviceInfo::target() const { return targetNameOf(major * 10 + minor); }

llvm::Error Context::initialize() {
  TILE_ENTER_CONTEXT(driver, context);
  cuda::Device device = 0;
  TILE_CUDA_TRY(driver, cuCtxGetDevice(&device));
  unsigned long long id = 0;
  TILE_CUDA_TRY(driver, cuCtxGetId(context, &id));
  uniqueId = id;
  // A CUdevice is its ordinal; the driver's documentation numbers them so.
  auto queried = DeviceInfo::query(driver, device);
  if (!queried)
    return queried.takeError();
  info = std::move(*queried);
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<Context>> Context::borrow(const CudaApi &api, cuda::Context handle) {
  if (!handle)
    return makeError(ErrorCode::InvalidArgument, "the context is null");
  std::shared_ptr<Context> context(new Context(api, handle, /*retained=*/false));
  if (llvm::Error error = context->initialize())
    return std::move(error);
  return context;
}

llvm::Expected<std::shared_ptr<Context>> Context::current(const CudaApi &api) {
  cuda::Context handle = nullptr;
  TILE_CUDA_TRY(api, cuCtxGetCurrent(&handle));
  if (!handle)
    return std::shared_ptr<Context>();
  return borrow(api, handle);
}

llvm::Expected<std::shared_ptr<Context>> Context::primary(const CudaApi &api, int ordinal) {
  llvm::Expected<int> count = deviceCount(api);
  if (!count)
    return count.takeError();
  if (ordinal < 0 || ordinal >= *count)
    return DeviceInfo::query(api, ordinal).takeError();
  cuda::Device device = 0;
  TILE_CUDA_TRY(api, cuDeviceGet(&device, ordinal));
  cuda::Context handle = nullptr;
  if (Result result = api.cuDevicePrimaryCtxRetain(&handle, device); result != Result::Success)
    return addContext(api.check(result, "cuDevicePrimaryCtxRetain"),
                      formatted("no context can be made on device {}", ordinal));
  std::shared_ptr<Context> context(new Context(api, handle, /*retained=*/true));
  context->info.ordinal = device; // what the destructor releases
  if (llvm::Error error = context->initialize())
    return std::move(error);
  return context;
}

llvm::Expected<std::shared_ptr<Context>> Context::currentOrPrimary(const CudaApi &api,
                                                                   int ordinal) {
  auto context = current(api);
  if (!context || *context)
    return context;
  return primary(api, ordinal);
}

Context::~Context() {
  if (retained)
    (void)driver.cuDevicePrimaryCtxRelease(info.ordinal);
}
