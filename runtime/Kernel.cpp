//===- Kernel.cpp - loading: checks, limits, attributes -------------------===//
#include "runtime/Kernel.h"
#include "runtime/Cache.h"
#include "runtime/dispatch/AssemblerPlan.h"
#include "text/Format.h"
#include <cstring>

using namespace tile;
using namespace tile::runtime;
using cuda::FunctionAttribute;
using cuda::LaunchAttribute;
using cuda::LaunchAttributeId;

//===----------------------------------------------------------------------===//
// Limits and attributes
//===----------------------------------------------------------------------===//

static LaunchAttribute makeAttribute(LaunchAttributeId id) {
  LaunchAttribute attribute;
  std::memset(&attribute, 0, sizeof attribute);
  attribute.id = id;
  return attribute;
}

/// What can be refused before the driver compiles anything.
static llvm::Error checkDevice(const KernelMetadata &metadata, const DeviceInfo &device) {
  if (auto mismatch = targetMismatch(metadata.target, device.major * 10 + device.minor))
    return makeError(ErrorCode::Unsupported, formatted("cannot load `{}`: {} ({})", metadata.entry,
                                                       *mismatch, device.name));
  auto tooMuch = [&](const char *what, int wanted, int limit) {
    return makeError(ErrorCode::Resources,
                     formatted("`{}` needs {} {}, and {} allows {}", metadata.entry, wanted, what,
                               device.name, limit));
  };
  if (metadata.sharedBytes > device.sharedBytesPerBlockOptin)
    return tooMuch("bytes of shared memory a block", metadata.sharedBytes,
                   device.sharedBytesPerBlockOptin);
  if (metadata.threads > device.maxThreadsPerBlock)
    return tooMuch("threads a block", metadata.threads, device.maxThreadsPerBlock);
  if (metadata.threads <= 0 || metadata.ctasPerProgram <= 0 || metadata.sharedBytes < 0)
    return badMetadata(metadata, "has sizes that are not positive");
  int clusterSize = 1;
  for (int extent : metadata.cluster) {
    if (extent < 1 || extent > 16)
      return badMetadata(
          metadata,
          formatted("has a cluster extent of {}: at least 1 and at most 16 is possible", extent));
    clusterSize *= extent;
  }
  if (clusterSize > 16)
    return tooMuch("blocks a cluster", clusterSize, 16);
  if (clusterSize > 1 && !device.clusterLaunch)
    return makeError(ErrorCode::Unsupported,
                     formatted("`{}` uses thread block clusters, which {} does not have",
                               metadata.entry, device.name));
  if (metadata.cooperative && !device.cooperativeLaunch)
    return makeError(ErrorCode::Unsupported,
                     formatted("`{}` is a cooperative kernel, which {} cannot run", metadata.entry,
                               device.name));
  return llvm::Error::success();
}

/// The largest dynamic shared memory that needs no opting in.
static constexpr int sharedBytesWithoutOptin = 48 * 1024;
/// The largest cluster that every chip with clusters can run.
static constexpr int portableClusterSize = 8;
/// The first driver that captures dependent launches into graphs.
static constexpr int dependentLaunchVersion = 12030;

llvm::Error LoadedKernel::configure() {
  const cuda::CudaApi &api = owner->api();
  TILE_ENTER_CONTEXT(api, owner->handle());
  TILE_CUDA_TRY(api, cuFuncGetAttribute(&registerCount, FunctionAttribute::NumRegisters, handle));
  TILE_CUDA_TRY(api,
                cuFuncGetAttribute(&localByteCount, FunctionAttribute::LocalSizeBytes, handle));
  if (sharedBytes() > sharedBytesWithoutOptin)
    TILE_CUDA_TRY(api, cuFuncSetAttribute(handle, FunctionAttribute::MaxDynamicSharedSizeBytes,
                                          sharedBytes()));

  const int *cluster = metadata().cluster;
  int clusterSize = cluster[0] * cluster[1] * cluster[2];
  if (clusterSize > portableClusterSize)
    TILE_CUDA_TRY(api,
                  cuFuncSetAttribute(handle, FunctionAttribute::NonPortableClusterSizeAllowed, 1));
  if (clusterSize > 1) {
    LaunchAttribute attribute = makeAttribute(LaunchAttributeId::ClusterDimension);
    attribute.value.clusterDim.x = cluster[0];
    attribute.value.clusterDim.y = cluster[1];
    attribute.value.clusterDim.z = cluster[2];
    attributes.push_back(attribute);
  }
  if (metadata().cooperative) {
    LaunchAttribute attribute = makeAttribute(LaunchAttributeId::Cooperative);
    attribute.value.cooperative = 1;
    attributes.push_back(attribute);
  }
  LaunchAttribute dependent = makeAttribute(LaunchAttributeId::ProgrammaticStreamSerialization);
  dependent.value.programmaticStreamSerializationAllowed = 1;
  attributes.push_back(dependent);
  isDependent = metadata().dependent && !metadata().cooperative &&
                targetNamed(owner->device().target()).has(Feature::DependentLaunch) &&
                api.version() >= dependentLaunchVersion;
  return checkResidency();
}

/// A kernel that can never be resident is an error here, not at its launch.
llvm::Error LoadedKernel::checkResidency() {
  const cuda::CudaApi &api = owner->api();
  const int *cluster = metadata().cluster;
  std::string needs = formatted("{} threads with {} registers each and {} bytes of shared memory",
                                metadata().threads, registerCount, sharedBytes());
  int resident = 0;
  TILE_CUDA_TRY(api, cuOccupancyMaxActiveBlocksPerMultiprocessor(
                         &resident, handle, metadata().threads, sharedBytes()));
  if (resident == 0)
    return makeError(ErrorCode::Resources,
                     formatted("a block of `{}` does not fit a multiprocessor of {}: it has {}",
                               metadata().entry, owner->device().name, needs));
  residentBlocks = unsigned(resident) * unsigned(owner->device().multiprocessors);
  if (cluster[0] * cluster[1] * cluster[2] == 1)
    return llvm::Error::success();

  cuda::LaunchConfig config = {};
  config.gridDimX = cluster[0], config.gridDimY = cluster[1], config.gridDimZ = cluster[2];
  config.blockDimX = metadata().threads, config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = sharedBytes();
  config.attrs = attributes.data();
  config.numAttrs = 1; // the cluster's
  TILE_CUDA_TRY(api, cuOccupancyMaxActiveClusters(&resident, handle, &config));
  if (resident == 0)
    return makeError(
        ErrorCode::Resources,
        formatted("a cluster of {}x{}x{} blocks of `{}` does not fit {}: a block has {}",
                  cluster[0], cluster[1], cluster[2], metadata().entry, owner->device().name,
                  needs));
  residentBlocks = unsigned(resident) * cluster[0] * cluster[1] * cluster[2];
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Bytes of a thread's stack in what the driver made of `entry`.
static llvm::Expected<int> frameBytes(const Module &module, llvm::StringRef entry) {
  const cuda::CudaApi &api = module.context()->api();
  auto function = module.function(entry);
  if (!function)
    return function.takeError();
  TILE_ENTER_CONTEXT(api, module.context()->handle());
  int bytes = 0;
  TILE_CUDA_TRY(api, cuFuncGetAttribute(&bytes, FunctionAttribute::LocalSizeBytes, *function));
  return bytes;
}

static llvm::Expected<Module> loadPtx(const CompiledKernel &kernel,
                                      const std::shared_ptr<Context> &context) {
  dispatch::AssemblerPlan plan(kernel.ptx);
  std::optional<Module> best;
  while (plan.next()) {
    JitOptions options;
    options.level = plan.level();
    auto module = Module::loadPtx(context, plan.text(), options);
    if (!module)
      return module;
    auto bytes = frameBytes(*module, kernel.metadata.entry);
    if (!bytes)
      return bytes.takeError();
    if (plan.keeps(*bytes))
      best = std::move(*module);
  }
  return std::move(*best);
}

/// From machine code if there is some that the driver takes; else from PTX, which it
/// compiles as a whole program and keeps in its own cache. Its linker (cuLink*) would hand
/// out machine code, but compiles as relocatable code: a row kernel of 64 registers got 128,
/// and took 30 % longer.
static llvm::Expected<Module> loadModule(const CompiledKernel &kernel,
                                         const std::shared_ptr<Context> &context,
                                         bool &fromMachineCode) {
  if (!kernel.machineCode.empty()) {
    auto module = Module::loadMachineCode(context, kernel.machineCode);
    if (module) {
      fromMachineCode = true;
      return module;
    }
    llvm::consumeError(module.takeError());
  }
  return loadPtx(kernel, context);
}

llvm::Expected<std::shared_ptr<LoadedKernel>>
LoadedKernel::load(std::shared_ptr<const CompiledKernel> kernel, std::shared_ptr<Context> context) {
  if (llvm::Error error = checkDevice(kernel->metadata, context->device()))
    return std::move(error);
  bool fromMachineCode = false;
  auto module = loadModule(*kernel, context, fromMachineCode);
  if (!module)
    return addContext(module.takeError(), formatted("cannot load `{}`", kernel->metadata.entry));
  auto function = module->function(kernel->metadata.entry);
  if (!function)
    return function.takeError();

  double milliseconds = module->loadMilliseconds();
  std::shared_ptr<LoadedKernel> loaded(
      new LoadedKernel(std::move(kernel), std::move(context), std::move(*module)));
  loaded->handle = *function;
  loaded->milliseconds = milliseconds;
  loaded->fromMachineCode = fromMachineCode;
  auto plan = LaunchPlan::of(loaded->metadata());
  if (!plan)
    return plan.takeError();
  loaded->plan = std::move(*plan);
  if (llvm::Error error = loaded->configure())
    return std::move(error);
  return loaded;
}

llvm::Expected<std::shared_ptr<LoadedKernel>> SharedKernel::loadOn(std::shared_ptr<Context> context,
                                                                   Observer *observer) {
  // Held while loading: the second thread waits for the first one's result.
  std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<LoadedKernel> &entry = loaded[context->id()];
  if (std::shared_ptr<LoadedKernel> existing = entry.lock())
    return existing;
  double start = Observer::now();
  auto fresh = LoadedKernel::load(compiledKernel, std::move(context));
  if (fresh)
    entry = *fresh;
  if (!observer)
    return fresh;
  Event event;
  event.kind = Event::Kind::Load;
  event.kernel = compiledKernel->metadata.entry;
  event.variant = compiledKernel->variant;
  event.key = compiledKernel->key;
  event.start = start;
  event.duration = Observer::now() - start;
  std::optional<ErrorParts> parts;
  if (!fresh) {
    parts = takeError(fresh.takeError());
    event.status = static_cast<int>(parts->code);
    event.message = parts->message;
  }
  observer->note(event);
  if (parts)
    return makeError(parts->code, parts->message, parts->result);
  return fresh;
}

bool SharedKernel::isLoaded() const {
  std::lock_guard<std::mutex> lock(mutex);
  return llvm::any_of(loaded, [](const auto &entry) { return !entry.second.expired(); });
}
