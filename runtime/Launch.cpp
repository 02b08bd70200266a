//===- Launch.cpp - the launch path ---------------------------------------===//
//
// What happens between the caller's arguments and cuLaunchKernelEx. Nothing
// here allocates, unless the kernel has over 64 parameters or wants scratch
// memory; nothing locks.
//
//===----------------------------------------------------------------------===//
#include "runtime/Kernel.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <limits>

using namespace tile;
using namespace tile::runtime;
using cuda::Result;
using Kind = KernelParameter::Kind;

static constexpr unsigned inlineParameters = 64;

static llvm::Error missingArgument(const LoadedKernel &kernel, unsigned index) {
  return makeError(ErrorCode::InvalidArgument,
                   llvm::formatv("argument {0} of `{1}` is missing: a null pointer was passed for "
                                 "an entry of the signature that the kernel reads",
                                 index, kernel.metadata().entry)
                       .str());
}

/// A descriptor's shape and strides are 64-bit; a kernel may want them narrower.
static llvm::Error checkNarrow(int64_t value, const ParameterPlan &parameter) {
  if (parameter.bytes == 8 || value == static_cast<int32_t>(value))
    return llvm::Error::success();
  return makeError(ErrorCode::InvalidArgument,
                   llvm::formatv("the {0} {1} of dimension {2} of descriptor argument {3} does not "
                                 "fit 32 bits",
                                 parameter.kind == Kind::DescShape ? "size" : "stride", value,
                                 parameter.dim, parameter.index)
                       .str());
}

/// Finds the bytes of one parameter in the caller's argument. Narrow integers
/// are the low bytes of wide ones: device and host are little-endian.
static llvm::Error locate(const LoadedKernel &kernel, const ParameterPlan &parameter,
                          const void *argument, const void *&value) {
  for (int element : parameter.path) {
    if (!argument)
      break;
    argument = static_cast<const void *const *>(argument)[element];
  }
  if (!argument)
    return missingArgument(kernel, parameter.index);
  value = argument;
  if (parameter.kind == Kind::Arg)
    return llvm::Error::success();

  const auto *descriptor = static_cast<const tile_descriptor *>(argument);
  if (parameter.kind == Kind::DescBase) {
    value = &descriptor->base;
    return llvm::Error::success();
  }
  if (parameter.dim >= descriptor->rank)
    return makeError(ErrorCode::InvalidArgument,
                     llvm::formatv("descriptor argument {0} of `{1}` has {2} dimensions, and at "
                                   "least {3} are needed",
                                   parameter.index, kernel.metadata().entry, descriptor->rank,
                                   parameter.dim + 1)
                         .str());
  const int64_t &number = parameter.kind == Kind::DescShape ? descriptor->shape[parameter.dim]
                                                            : descriptor->strides[parameter.dim];
  value = &number;
  return checkNarrow(number, parameter);
}

llvm::Error LoadedKernel::resolve(llvm::ArrayRef<const void *> arguments,
                                  llvm::MutableArrayRef<void *> pointers) const {
  if (arguments.size() < argumentCount)
    return makeError(ErrorCode::InvalidArgument,
                     llvm::formatv("`{0}` takes {1} arguments, one for each entry of its "
                                   "signature; {2} were passed",
                                   metadata().entry, argumentCount, arguments.size())
                         .str());
  for (size_t i = 0; i < plan.size(); ++i) {
    const ParameterPlan &parameter = plan[i];
    const void *value = nullptr;
    if (parameter.kind == Kind::Const)
      value = &constants[parameter.constant];
    else if (parameter.kind == Kind::Scratch || parameter.kind == Kind::TensorMap ||
             parameter.kind == Kind::NumPrograms)
      continue; // filled at the launch
    else if (llvm::Error error = locate(*this, parameter, arguments[parameter.index], value))
      return error;
    pointers[i] = const_cast<void *>(value);
  }
  return llvm::Error::success();
}

llvm::Error LoadedKernel::checkGrid(const uint64_t blocks[3]) const {
  const DeviceInfo &device = owner->device();
  for (int axis = 0; axis < 3; ++axis) {
    char name = "xyz"[axis];
    if (blocks[axis] > static_cast<uint64_t>(device.maxGrid[axis]))
      return makeError(ErrorCode::InvalidArgument,
                       llvm::formatv("the grid of `{0}` has {1} blocks along {2}, and at most {3} "
                                     "are possible",
                                     metadata().entry, blocks[axis], name, device.maxGrid[axis])
                           .str());
    if (blocks[axis] % metadata().cluster[axis] != 0)
      return makeError(ErrorCode::InvalidArgument,
                       llvm::formatv("the grid of `{0}` has {1} blocks along {2}, which its "
                                     "clusters of {3} do not divide",
                                     metadata().entry, blocks[axis], name, metadata().cluster[axis])
                           .str());
  }
  return llvm::Error::success();
}

/// The grid is part of the message: it is most often what is wrong.
llvm::Error LoadedKernel::launchError(Result result, const cuda::LaunchConfig &config) const {
  return addContext(
      owner->api().check(result, "cuLaunchKernelEx"),
      llvm::formatv("cannot launch `{0}` with {1}x{2}x{3} blocks of {4} threads and {5} bytes of "
                    "shared memory",
                    metadata().entry, config.gridDimX, config.gridDimY, config.gridDimZ,
                    config.blockDimX, config.sharedMemBytes)
          .str());
}

llvm::Error LoadedKernel::launchResolved(cuda::Stream stream, const uint32_t grid[3],
                                         llvm::MutableArrayRef<void *> pointers,
                                         const LaunchOptions &options) const {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return llvm::Error::success();
  const KernelMetadata &data = metadata();
  uint64_t blocks[3] = {uint64_t(grid[0]) * data.ctasPerProgram, grid[1], grid[2]};
  uint32_t programs[3] = {grid[0], grid[1], grid[2]};
  if (data.persistent) {
    blocks[0] = uint64_t(grid[0]) * grid[1] * grid[2];
    if (blocks[0] > std::numeric_limits<int32_t>::max())
      return makeError(ErrorCode::InvalidArgument,
                       llvm::formatv("the grid of `{0}` has {1} programs, and at most {2} are "
                                     "possible for a persistent kernel",
                                     data.entry, blocks[0], std::numeric_limits<int32_t>::max())
                           .str());
    blocks[0] = std::min<uint64_t>(blocks[0], residentBlocks);
    blocks[1] = blocks[2] = 1;
    for (size_t i = 0; i < plan.size(); ++i)
      if (plan[i].kind == Kind::NumPrograms)
        pointers[i] = &programs[plan[i].dim];
  }
  if (llvm::Error error = checkGrid(blocks))
    return error;

  const cuda::CudaApi &api = owner->api();
  cuda::LaunchConfig config;
  config.gridDimX = blocks[0], config.gridDimY = blocks[1], config.gridDimZ = blocks[2];
  config.blockDimX = data.threads, config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = data.sharedBytes;
  config.stream = stream;
  config.attrs = const_cast<cuda::LaunchAttribute *>(attributes.data()); // only read
  config.numAttrs = attributes.size() - (options.dependent ? 0 : 1);

  TILE_ENTER_CONTEXT(api, owner->handle());
  // Only kernels with tensor maps pay for this.
  std::vector<cuda::TensorMap> maps(tensorMaps.size());
  for (auto [map, planned] : llvm::zip(maps, tensorMaps)) {
    bool isSuitable = true;
    if (llvm::Error error = encodeTensorMap(api, planned, pointers, map, isSuitable))
      return addContext(std::move(error), "cannot launch `" + data.entry + "`");
    if (!isSuitable)
      return launchFallback(stream, grid, pointers, options);
    pointers[planned.parameter] = &map;
  }
  if (hasScratch)
    return launchWithScratch(config, grid, pointers);
  Result result = api.cuLaunchKernelEx(&config, handle, pointers.data(), nullptr);
  if (result != Result::Success)
    return launchError(result, config);
  return llvm::Error::success();
}

llvm::Error LoadedKernel::launchFallback(cuda::Stream stream, const uint32_t grid[3],
                                         llvm::ArrayRef<void *> pointers,
                                         const LaunchOptions &options) const {
  std::shared_ptr<LoadedKernel> other;
  {
    // The first launch of this kind compiles; the others of that moment wait.
    std::lock_guard<std::mutex> lock(fallbackMutex);
    if (!fallback) {
      if (!kernel->withoutTensorMaps)
        return makeError(ErrorCode::InvalidArgument,
                         "an array passed to `" + metadata().entry +
                             "` cannot be copied by the tensor memory accelerator: its address and "
                             "strides must be positive multiples of 16 bytes");
      auto compiled = kernel->withoutTensorMaps();
      if (!compiled)
        return compiled.takeError();
      auto loaded = LoadedKernel::load(*compiled, owner);
      if (!loaded)
        return loaded.takeError();
      fallback = *loaded;
    }
    other = fallback;
  }
  // Both kernels have the arguments of the signature in the same order.
  auto isOwn = [](const ParameterPlan &p) {
    return p.kind == Kind::TensorMap || p.kind == Kind::NumPrograms;
  };
  llvm::SmallVector<void *, inlineParameters> theirs(other->plan.size());
  size_t from = 0;
  for (auto [to, parameter] : llvm::zip(theirs, other->plan)) {
    if (isOwn(parameter))
      continue;
    while (from < plan.size() && isOwn(plan[from]))
      ++from;
    to = pointers[from++];
  }
  return other->launchResolved(stream, grid, theirs, options);
}

/// Scratch memory lives for one launch, in stream order: right under any
/// number of streams, and capturable.
llvm::Error LoadedKernel::launchWithScratch(const cuda::LaunchConfig &config,
                                            const uint32_t grid[3],
                                            llvm::MutableArrayRef<void *> pointers) const {
  const cuda::CudaApi &api = owner->api();
  llvm::SmallVector<cuda::DevicePtr, 4> buffers;
  buffers.reserve(plan.size()); // `pointers` points into it
  uint64_t programs = uint64_t(grid[0]) * grid[1] * grid[2];
  llvm::Error error = llvm::Error::success();
  for (size_t i = 0; i < plan.size() && !error; ++i) {
    const ParameterPlan &parameter = plan[i];
    if (parameter.kind != Kind::Scratch)
      continue;
    uint64_t bytes = parameter.bytes * (parameter.perProgram ? programs : 1);
    cuda::DevicePtr &buffer = buffers.emplace_back(0);
    pointers[i] = &buffer;
    if (bytes == 0)
      continue;
    if (Result result = api.cuMemAllocAsync(&buffer, bytes, config.stream);
        result != Result::Success) {
      buffer = 0;
      error = addContext(
          api.check(result, "cuMemAllocAsync"),
          llvm::formatv("cannot get {0} bytes of scratch memory for `{1}`", bytes, metadata().entry)
              .str());
    } else if (parameter.zero) {
      error = api.check(api.cuMemsetD8Async(buffer, 0, bytes, config.stream), "cuMemsetD8Async");
    }
  }
  if (!error)
    if (Result result = api.cuLaunchKernelEx(&config, handle, pointers.data(), nullptr);
        result != Result::Success)
      error = launchError(result, config);
  for (cuda::DevicePtr buffer : buffers)
    if (buffer)
      if (Result result = api.cuMemFreeAsync(buffer, config.stream);
          result != Result::Success && !error)
        error = api.check(result, "cuMemFreeAsync");
  return error;
}

llvm::Error LoadedKernel::launch(cuda::Stream stream, const uint32_t grid[3],
                                 llvm::ArrayRef<const void *> arguments,
                                 const LaunchOptions &options) const {
  llvm::SmallVector<void *, inlineParameters> pointers(plan.size());
  if (llvm::Error error = resolve(arguments, pointers))
    return error;
  return launchResolved(stream, grid, pointers, options);
}

//===----------------------------------------------------------------------===//
// PreparedLaunch
//===----------------------------------------------------------------------===//

PreparedLaunch::PreparedLaunch(std::shared_ptr<const LoadedKernel> loadedKernel)
    : kernel(std::move(loadedKernel)), slots(kernel->plan.size()), pointers(kernel->plan.size()),
      isSet(kernel->argumentCount, true) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const ParameterPlan &parameter = kernel->plan[i];
    pointers[i] = &slots[i];
    if (parameter.kind == Kind::Const)
      slots[i] = kernel->constants[parameter.constant];
    else if (parameter.kind != Kind::Scratch && parameter.kind != Kind::TensorMap &&
             parameter.kind != Kind::NumPrograms && isSet[parameter.index]) {
      isSet[parameter.index] = false;
      ++missing;
    }
  }
}

llvm::Error PreparedLaunch::setArgument(unsigned index, const void *argument) {
  if (index >= isSet.size())
    return llvm::Error::success(); // an entry that the kernel does not read
  for (size_t i = 0; i < slots.size(); ++i) {
    const ParameterPlan &parameter = kernel->plan[i];
    if (parameter.kind == Kind::Const || parameter.kind == Kind::Scratch ||
        parameter.kind == Kind::TensorMap || parameter.kind == Kind::NumPrograms ||
        parameter.index != static_cast<int>(index))
      continue;
    const void *value = nullptr;
    if (llvm::Error error = locate(*kernel, parameter, argument, value))
      return error;
    std::memcpy(&slots[i], value, parameter.bytes);
  }
  if (!isSet[index]) {
    isSet[index] = true;
    --missing;
  }
  return llvm::Error::success();
}

llvm::Error PreparedLaunch::setArguments(llvm::ArrayRef<const void *> values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (llvm::Error error = setArgument(i, values[i]))
      return error;
  return llvm::Error::success();
}

llvm::Error PreparedLaunch::launch(cuda::Stream stream) {
  for (size_t i = 0; missing && i < isSet.size(); ++i)
    if (!isSet[i])
      return missingArgument(*kernel, i);
  return kernel->launchResolved(stream, grid, pointers, options);
}
