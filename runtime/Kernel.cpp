//===- Kernel.cpp - loading: checks, launch plan, attributes --------------===//
#include "runtime/Kernel.h"
#include "runtime/Cache.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cstring>

using namespace tile;
using namespace tile::runtime;
using cuda::FunctionAttribute;
using cuda::LaunchAttribute;
using cuda::LaunchAttributeId;
using Kind = KernelParameter::Kind;

unsigned runtime::parameterBytes(llvm::StringRef type) {
  return llvm::StringSwitch<unsigned>(type)
      .Cases({"i1", "i8", "u8", "fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16"}, 1)
      .Cases({"i16", "u16", "fp16", "bf16"}, 2)
      .Cases({"i32", "u32", "fp32"}, 4)
      .Cases({"ptr", "i64", "u64", "fp64"}, 8)
      .Default(0);
}

//===----------------------------------------------------------------------===//
// The launch plan
//===----------------------------------------------------------------------===//

/// The bits of a constant parameter given as JSON.
static std::optional<uint64_t> constantBits(llvm::StringRef type, llvm::StringRef json) {
  auto value = llvm::json::parse(json);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  if (value->getAsNull())
    return 0;
  if (auto flag = value->getAsBoolean())
    return *flag ? 1 : 0;

  const llvm::fltSemantics *format = llvm::StringSwitch<const llvm::fltSemantics *>(type)
                                         .Case("fp16", &llvm::APFloat::IEEEhalf())
                                         .Case("bf16", &llvm::APFloat::BFloat())
                                         .Case("fp32", &llvm::APFloat::IEEEsingle())
                                         .Case("fp64", &llvm::APFloat::IEEEdouble())
                                         .Case("fp8e4nv", &llvm::APFloat::Float8E4M3FN())
                                         .Case("fp8e5", &llvm::APFloat::Float8E5M2())
                                         .Default(nullptr);
  if (!format) {
    if (auto integer = value->getAsInteger())
      return static_cast<uint64_t>(*integer);
    if (auto integer = value->getAsUINT64())
      return *integer;
    return std::nullopt;
  }
  llvm::APFloat number(0.0);
  if (auto text = value->getAsString()) { // "inf", "-inf", "nan": not JSON numbers
    auto status = number.convertFromString(*text, llvm::APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return std::nullopt;
    }
  } else if (auto real = value->getAsNumber()) {
    number = llvm::APFloat(*real);
  } else {
    return std::nullopt;
  }
  bool exact = false;
  number.convert(*format, llvm::APFloat::rmNearestTiesToEven, &exact);
  return number.bitcastToAPInt().getZExtValue();
}

static llvm::Error badMetadata(const KernelMetadata &metadata, const llvm::Twine &what) {
  return makeError(ErrorCode::InvalidArgument, "the metadata of `" + metadata.entry + "` " + what);
}

llvm::Error LoadedKernel::buildPlan() {
  for (const KernelParameter &parameter : metadata().params) {
    ParameterPlan entry;
    entry.kind = parameter.kind;
    entry.index = parameter.index;
    entry.dim = parameter.dim;
    entry.path.assign(parameter.path.begin(), parameter.path.end());
    entry.bytes = 8;
    if (parameter.kind == Kind::Scratch) {
      entry.bytes = parameter.bytes;
      entry.perProgram = parameter.per == "program";
      entry.zero = parameter.zero;
      hasScratch = true;
    } else if (parameter.kind == Kind::TensorMap) {
      entry.bytes = sizeof(cuda::TensorMap);
    } else if (parameter.kind != Kind::DescBase || !parameter.type.empty()) {
      entry.bytes = parameterBytes(parameter.type);
      if (!entry.bytes)
        return badMetadata(metadata(), "has a parameter of unknown type `" + parameter.type + "`");
    }
    if ((parameter.kind == Kind::DescShape || parameter.kind == Kind::DescStride) &&
        (parameter.dim < 0 || parameter.dim >= 5))
      return badMetadata(metadata(), "names dimension " + llvm::Twine(parameter.dim) +
                                         " of a descriptor, which has at most 5");
    if (parameter.kind == Kind::Const) {
      auto bits = constantBits(parameter.type, parameter.value);
      if (!bits)
        return badMetadata(metadata(),
                           "has a constant `" + parameter.value + "` that is no " + parameter.type);
      entry.constant = constants.size();
      constants.push_back(*bits);
    }
    if (parameter.kind == Kind::NumPrograms && (parameter.dim < 0 || parameter.dim > 2))
      return badMetadata(metadata(), "names axis " + llvm::Twine(parameter.dim) + " of the grid");
    bool fromCaller = parameter.kind != Kind::Scratch && parameter.kind != Kind::Const &&
                      parameter.kind != Kind::NumPrograms;
    if (fromCaller && parameter.index < 0)
      return badMetadata(metadata(), "has a parameter of a negative index");
    if (fromCaller)
      argumentCount = std::max(argumentCount, static_cast<unsigned>(parameter.index) + 1);
    plan.push_back(std::move(entry));
  }
  return planTensorMaps();
}

llvm::Error LoadedKernel::planTensorMaps() {
  auto find = [&](const LaunchSum::Factor &factor) -> llvm::Expected<LaunchValue> {
    for (auto [i, parameter] : llvm::enumerate(plan))
      if (parameter.kind == Kind::Arg && parameter.index == factor.index &&
          llvm::ArrayRef(parameter.path) == llvm::ArrayRef(factor.path))
        return LaunchValue{unsigned(i), parameter.bytes};
    return badMetadata(metadata(), "has a tensor map made from entry " + llvm::Twine(factor.index) +
                                       " of the signature, which is no parameter");
  };
  for (auto [i, parameter] : llvm::enumerate(metadata().params)) {
    if (parameter.kind != Kind::TensorMap)
      continue;
    auto map = planTensorMap(parameter.map, parameter, find);
    if (!map)
      return addContext(map.takeError(), "cannot load `" + metadata().entry + "`");
    map->parameter = i;
    tensorMaps.push_back(std::move(*map));
  }
  return llvm::Error::success();
}

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
  if (auto mismatch = targetMismatch(metadata.target, device.major, device.minor))
    return makeError(ErrorCode::Unsupported, "cannot load `" + metadata.entry + "`: " + *mismatch +
                                                 " (" + device.name + ")");
  auto tooMuch = [&](const char *what, int wanted, int limit) {
    return makeError(ErrorCode::Resources,
                     llvm::formatv("`{0}` needs {1} {2}, and {3} allows {4}", metadata.entry,
                                   wanted, what, device.name, limit)
                         .str());
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
      return badMetadata(metadata, "has a cluster extent of " + llvm::Twine(extent) +
                                       ": at least 1 and at most 16 is possible");
    clusterSize *= extent;
  }
  if (clusterSize > 16)
    return tooMuch("blocks a cluster", clusterSize, 16);
  if (clusterSize > 1 && !device.clusterLaunch)
    return makeError(ErrorCode::Unsupported, "`" + metadata.entry +
                                                 "` uses thread block clusters, which " +
                                                 device.name + " does not have");
  if (metadata.cooperative && !device.cooperativeLaunch)
    return makeError(ErrorCode::Unsupported, "`" + metadata.entry +
                                                 "` is a cooperative kernel, which " + device.name +
                                                 " cannot run");
  return llvm::Error::success();
}

/// The largest dynamic shared memory that needs no opting in.
static constexpr int sharedBytesWithoutOptin = 48 * 1024;
/// The largest cluster that every chip with clusters can run.
static constexpr int portableClusterSize = 8;

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
  return checkResidency();
}

/// A kernel that can never be resident is an error here, not at its launch.
llvm::Error LoadedKernel::checkResidency() {
  const cuda::CudaApi &api = owner->api();
  const int *cluster = metadata().cluster;
  std::string needs = llvm::formatv("{0} threads with {1} registers each and {2} bytes of shared "
                                    "memory",
                                    metadata().threads, registerCount, sharedBytes());
  int resident = 0;
  TILE_CUDA_TRY(api, cuOccupancyMaxActiveBlocksPerMultiprocessor(
                         &resident, handle, metadata().threads, sharedBytes()));
  if (resident == 0)
    return makeError(ErrorCode::Resources, "a block of `" + metadata().entry +
                                               "` does not fit a multiprocessor of " +
                                               owner->device().name + ": it has " + needs);
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
    return makeError(ErrorCode::Resources,
                     llvm::formatv("a cluster of {0}x{1}x{2} blocks of `{3}` does not fit {4}: a "
                                   "block has {5}",
                                   cluster[0], cluster[1], cluster[2], metadata().entry,
                                   owner->device().name, needs)
                         .str());
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Always from PTX, which the driver compiles as a whole program and keeps in its
/// own cache. Its linker (cuLink*) would hand out the machine code, but compiles
/// as relocatable code: a row kernel of 64 registers got 128, and took 30 % longer.
static llvm::Expected<Module> loadModule(const CompiledKernel &kernel,
                                         const std::shared_ptr<Context> &context) {
  JitOptions options;
  options.maxRegisters = kernel.maxRegisters;
  return Module::loadPtx(context, kernel.ptx, options);
}

llvm::Expected<std::shared_ptr<LoadedKernel>>
LoadedKernel::load(std::shared_ptr<const CompiledKernel> kernel, std::shared_ptr<Context> context) {
  if (llvm::Error error = checkDevice(kernel->metadata, context->device()))
    return std::move(error);
  auto module = loadModule(*kernel, context);
  if (!module)
    return addContext(module.takeError(), "cannot load `" + kernel->metadata.entry + "`");
  auto function = module->function(kernel->metadata.entry);
  if (!function)
    return function.takeError();

  double milliseconds = module->loadMilliseconds();
  std::shared_ptr<LoadedKernel> loaded(
      new LoadedKernel(std::move(kernel), std::move(context), std::move(*module)));
  loaded->handle = *function;
  loaded->milliseconds = milliseconds;
  if (llvm::Error error = loaded->buildPlan())
    return std::move(error);
  if (llvm::Error error = loaded->configure())
    return std::move(error);
  return loaded;
}

llvm::Expected<std::shared_ptr<LoadedKernel>>
SharedKernel::loadOn(std::shared_ptr<Context> context) {
  // Held while loading: the second thread waits for the first one's result.
  std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<LoadedKernel> &entry = loaded[context->id()];
  if (std::shared_ptr<LoadedKernel> existing = entry.lock())
    return existing;
  auto fresh = LoadedKernel::load(compiledKernel, std::move(context));
  if (fresh)
    entry = *fresh;
  return fresh;
}
