//===- Launch.cpp - the launch path ---------------------------------------===//
//
// What happens between the caller's arguments and cuLaunchKernelEx. Nothing
// here allocates, unless the kernel has over 64 parameters or over 8 tensor maps,
// or a prepared launch is recorded; nothing locks, but for the first launch that takes
// another form of the kernel.
//
//===----------------------------------------------------------------------===//
#include "runtime/Kernel.h"
#include "text/Format.h"
#include <cstring>

using namespace tile;
using namespace tile::runtime;
using cuda::Result;
using Kind = KernelParameter::Kind;

static constexpr unsigned inlineParameters = 64, inlineMaps = 8;

/// The grid is part of the message: it is most often what is wrong.
llvm::Error LoadedKernel::launchError(Result result, const cuda::LaunchConfig &config) const {
  return addContext(
      owner->api().check(result, "cuLaunchKernelEx"),
      formatted(
          "cannot launch `{}` with {}x{}x{} blocks of {} threads and {} bytes of shared memory",
          metadata().entry, config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX,
          config.sharedMemBytes));
}

cuda::LaunchConfig LoadedKernel::configuration(const std::array<uint64_t, 3> &blocks,
                                               cuda::Stream stream,
                                               const LaunchOptions &options) const {
  const KernelMetadata &data = metadata();
  cuda::LaunchConfig config;
  config.gridDimX = blocks[0], config.gridDimY = blocks[1], config.gridDimZ = blocks[2];
  config.blockDimX = data.threads, config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = data.sharedBytes;
  config.stream = stream;
  config.attrs = const_cast<cuda::LaunchAttribute *>(attributes.data()); // only read
  config.numAttrs = attributes.size() - (options.dependent.value_or(isDependent) ? 0 : 1);
  return config;
}

llvm::Error LoadedKernel::launchResolved(cuda::Stream stream, const uint32_t grid[3],
                                         llvm::MutableArrayRef<void *> pointers,
                                         const LaunchOptions &options) const {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return llvm::Error::success();
  if (kernel->forMultiples)
    if (uint64_t key = plan.multiplesKey(pointers))
      if (const LoadedKernel *better = formForMultiples(key, stream))
        return launchForm(*better, stream, grid, pointers, options);
  const KernelMetadata &data = metadata();
  uint32_t programs[3] = {grid[0], grid[1], grid[2]};
  bool comesOutEven = plan.splitGrid(programs, pointers);
  if (kernel->alone && !comesOutEven)
    return launchOther(kernel->alone, single, stream, grid, pointers, options);
  if (kernel->alone && wantsForm(data, programs, unsigned(owner->device().multiprocessors))) {
    auto better = formForFew();
    if (!better)
      return better.takeError();
    if (*better)
      return launchForm(**better, stream, grid, pointers, options);
  }
  if (!comesOutEven)
    return makeError(ErrorCode::InvalidArgument,
                     formatted("`{}` was compiled for grids of other shapes", data.entry));
  auto start = blocksOf(data, programs, residentBlocks);
  if (!start)
    return start.takeError();
  const std::array<uint64_t, 3> &blocks = *start;
  if (llvm::Error error = checkGrid(data, blocks, owner->device().maxGrid))
    return error;
  for (auto [pointer, parameter] : llvm::zip(pointers, plan.parameters))
    if (parameter.kind == Kind::NumPrograms)
      pointer = &programs[parameter.dim];

  const cuda::CudaApi &api = owner->api();
  cuda::LaunchConfig config = configuration(blocks, stream, options);
  TILE_ENTER_CONTEXT(api, owner->handle());
  // Only kernels with tensor maps pay for this.
  llvm::SmallVector<cuda::TensorMap, inlineMaps> maps(plan.tensorMaps.size());
  for (auto [map, planned] : llvm::zip(maps, plan.tensorMaps)) {
    bool isSuitable = true;
    if (llvm::Error error = encodeTensorMap(api, planned, pointers, map, isSuitable))
      return addContext(std::move(error), formatted("cannot launch `{}`", data.entry));
    if (!isSuitable && !kernel->withoutTensorMaps)
      return makeError(
          ErrorCode::InvalidArgument,
          formatted(
              "an array passed to `{}` cannot be copied by the tensor memory accelerator: its "
              "sizes must be positive, its address and strides multiples of 16 bytes, none "
              "negative",
              data.entry));
    if (!isSuitable)
      return launchOther(kernel->withoutTensorMaps, fallback, stream, grid, pointers, options);
    pointers[planned.parameter] = &map;
  }
  if (plan.hasScratch)
    return launchWithScratch(config, grid, pointers);
  Result result = api.cuLaunchKernelEx(&config, handle, pointers.data(), nullptr);
  if (result != Result::Success)
    return launchError(result, config);
  return llvm::Error::success();
}

llvm::Expected<const LoadedKernel *> LoadedKernel::otherForm(const Compile &compile,
                                                             OtherForm &form) const {
  if (const LoadedKernel *ready = form.ready.load(std::memory_order_acquire))
    return ready;
  // The first launch of this kind compiles; the others of that moment wait.
  std::lock_guard<std::mutex> lock(formsMutex);
  if (!form.kept) {
    auto compiled = compile();
    if (!compiled)
      return compiled.takeError();
    auto loaded = LoadedKernel::load(*compiled, owner);
    if (!loaded)
      return loaded.takeError();
    form.kept = std::move(*loaded);
    form.ready.store(form.kept.get(), std::memory_order_release);
  }
  return form.kept.get();
}

llvm::Expected<const LoadedKernel *> LoadedKernel::formForFew() const {
  if (hasNoSingle.load(std::memory_order_relaxed))
    return nullptr;
  auto form = otherForm(kernel->alone, single);
  if (form)
    return form;
  ErrorParts parts = takeError(form.takeError());
  if (parts.code == ErrorCode::NoCompile)
    return makeError(parts.code, parts.message, parts.result);
  hasNoSingle.store(true, std::memory_order_relaxed);
  return nullptr;
}

/// Whether what a caller passes is passed on to another form of the kernel as it is.
static bool takesTheSame(const LaunchPlan &plan, const LaunchPlan &other) {
  auto areAlike = [](const ParameterPlan *a, const ParameterPlan *b) {
    return a->kind == b->kind && a->index == b->index && a->path == b->path && a->dim == b->dim &&
           a->bytes == b->bytes;
  };
  auto fromCaller = [](const LaunchPlan &plan) {
    llvm::SmallVector<const ParameterPlan *, inlineParameters> list;
    for (const ParameterPlan &parameter : plan.parameters)
      if (parameter.kind != Kind::TensorMap && parameter.kind != Kind::NumPrograms)
        list.push_back(&parameter);
    return list;
  };
  auto mine = fromCaller(plan), theirs = fromCaller(other);
  return llvm::equal(mine, theirs, areAlike);
}

const LoadedKernel *LoadedKernel::formForMultiples(uint64_t key, cuda::Stream stream) const {
  auto find = [&](unsigned &slot) -> const MultiplesForm * {
    for (slot = 0; slot < kMostMultiplesForms; ++slot) {
      const MultiplesForm *form = readyForMultiples[slot].load(std::memory_order_acquire);
      if (!form || form->key == key)
        return form;
    }
    return nullptr;
  };
  unsigned slot = 0;
  if (const MultiplesForm *form = find(slot))
    return form->kernel.get();
  if (slot == kMostMultiplesForms)
    return nullptr;
  // Modules may not be loaded while a stream is captured, which is asked in its context.
  ScopedContext scope(owner->api(), owner->handle());
  if (scope.result() != Result::Success || isCapturing(owner->api(), stream))
    return nullptr;
  std::lock_guard<std::mutex> lock(formsMutex);
  if (const MultiplesForm *form = find(slot)) // another thread was here meanwhile
    return form->kernel.get();
  if (slot == kMostMultiplesForms)
    return nullptr;
  auto form = std::make_unique<MultiplesForm>();
  form->key = key;
  if (auto compiled = kernel->forMultiples(plan.multiplesOf(key))) {
    if (auto loaded = LoadedKernel::load(*compiled, owner)) {
      if (takesTheSame(plan, (*loaded)->plan))
        form->kernel = std::move(*loaded);
    } else {
      llvm::consumeError(loaded.takeError());
    }
  } else {
    llvm::consumeError(compiled.takeError());
  }
  const LoadedKernel *made = form->kernel.get();
  readyForMultiples[slot].store(form.get(), std::memory_order_release);
  keptForMultiples[slot] = std::move(form);
  return made;
}

llvm::Error LoadedKernel::prepareFor(const uint32_t grid[3]) const {
  if (!kernel->alone)
    return llvm::Error::success();
  const int (&together)[3] = metadata().programsPerBlock;
  uint64_t programs = uint64_t(grid[0]) * grid[1] * grid[2];
  auto multiprocessors = unsigned(owner->device().multiprocessors);
  uint64_t enough = uint64_t(multiprocessors) * together[0] * together[1] * together[2];
  // Which axis they share the arguments may say; so many programs are too few along any.
  bool isOpen = *std::max_element(together, together + 3) > 1 && !metadata().gridSplits.empty();
  bool areFew = isOpen
                    ? programs < enough || metadata().programsApart > 0 || metadata().programsGrow
                    : wantsForm(metadata(), grid, multiprocessors);
  if (!areFew)
    return llvm::Error::success();
  return formForFew().takeError();
}

llvm::Error LoadedKernel::launchOther(const Compile &compile, OtherForm &form, cuda::Stream stream,
                                      const uint32_t grid[3], llvm::ArrayRef<void *> pointers,
                                      const LaunchOptions &options) const {
  auto found = otherForm(compile, form);
  if (!found)
    return found.takeError();
  return launchForm(**found, stream, grid, pointers, options);
}

llvm::Error LoadedKernel::launchForm(const LoadedKernel &other, cuda::Stream stream,
                                     const uint32_t grid[3], llvm::ArrayRef<void *> pointers,
                                     const LaunchOptions &options) const {
  // Both kernels have the arguments of the signature in the same order.
  auto isOwn = [](const ParameterPlan &p) {
    return p.kind == Kind::TensorMap || p.kind == Kind::NumPrograms;
  };
  llvm::SmallVector<void *, inlineParameters> theirs(other.plan.parameters.size());
  size_t from = 0;
  for (auto [to, parameter] : llvm::zip(theirs, other.plan.parameters)) {
    if (isOwn(parameter))
      continue;
    while (from < plan.parameters.size() && isOwn(plan.parameters[from]))
      ++from;
    to = pointers[from++];
  }
  return other.launchResolved(stream, grid, theirs, options);
}

/// Scratch memory lives for one launch, in stream order: right under any
/// number of streams, and capturable.
llvm::Error LoadedKernel::launchWithScratch(const cuda::LaunchConfig &config,
                                            const uint32_t grid[3],
                                            llvm::MutableArrayRef<void *> pointers) const {
  const cuda::CudaApi &api = owner->api();
  llvm::SmallVector<cuda::DevicePtr, inlineParameters> buffers;
  buffers.reserve(plan.parameters.size()); // `pointers` points into it
  uint64_t programs = uint64_t(grid[0]) * grid[1] * grid[2];
  llvm::Error error = llvm::Error::success();
  for (size_t i = 0; i < plan.parameters.size() && !error; ++i) {
    const ParameterPlan &parameter = plan.parameters[i];
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
          formatted("cannot get {} bytes of scratch memory for `{}`", bytes, metadata().entry));
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
  llvm::SmallVector<void *, inlineParameters> pointers(plan.parameters.size());
  if (llvm::Error error = plan.resolve(arguments, pointers))
    return error;
  return launchResolved(stream, grid, pointers, options);
}

//===----------------------------------------------------------------------===//
// PreparedLaunch
//===----------------------------------------------------------------------===//

PreparedLaunch::PreparedLaunch(std::shared_ptr<const LoadedKernel> loadedKernel)
    : kernel(std::move(loadedKernel)), slots(kernel->plan.parameters.size()),
      pointers(kernel->plan.parameters.size()), isSet(kernel->plan.numArguments, true) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const ParameterPlan &parameter = kernel->plan.parameters[i];
    pointers[i] = &slots[i];
    if (parameter.kind == Kind::Const)
      slots[i] = kernel->plan.constants[parameter.constant];
    else if (!parameter.isMadeAtLaunch() && isSet[parameter.index]) {
      isSet[parameter.index] = false;
      ++missing;
    }
  }
}

llvm::Error PreparedLaunch::setArgument(size_t index, const void *argument) {
  if (index >= isSet.size())
    return llvm::Error::success(); // an entry that the kernel does not read
  for (size_t i = 0; i < slots.size(); ++i) {
    const ParameterPlan &parameter = kernel->plan.parameters[i];
    if (parameter.kind == Kind::Const || parameter.isMadeAtLaunch() ||
        parameter.index != static_cast<int>(index))
      continue;
    const void *value = nullptr;
    if (llvm::Error error = kernel->plan.locate(parameter, argument, value))
      return error;
    if (std::memcmp(&slots[i], value, parameter.bytes) == 0)
      continue;
    forgetRecording();
    std::memcpy(&slots[i], value, parameter.bytes);
  }
  if (!isSet[index]) {
    isSet[index] = true;
    --missing;
  }
  return llvm::Error::success();
}

llvm::Error PreparedLaunch::setArguments(llvm::ArrayRef<const void *> values) {
  // Of more values than there are entries the rest is not looked at.
  for (size_t i = 0; i < std::min<size_t>(values.size(), isSet.size()); ++i)
    if (llvm::Error error = setArgument(i, values[i]))
      return error;
  return llvm::Error::success();
}

void PreparedLaunch::setGrid(uint32_t x, uint32_t y, uint32_t z) {
  if (grid[0] != x || grid[1] != y || grid[2] != z)
    forgetRecording();
  grid[0] = x, grid[1] = y, grid[2] = z;
}

void PreparedLaunch::setOptions(const LaunchOptions &newOptions) {
  forgetRecording();
  options = newOptions;
}

void PreparedLaunch::forgetRecording() {
  repeats = 0;
  if (!recording)
    return;
  recording.reset();
  recordAfter = std::min(recordAfter * 2, 1u << 16);
}

/// Leaves no recording where there can be none; then the launch goes on as it
/// did before.
void PreparedLaunch::record(cuda::Stream stream) {
  // A graph starts when the work before it has ended: who insists on a dependent launch
  // gets one. Stream-ordered memory is another thing inside of a graph.
  if (options.dependent.value_or(false) || kernel->plan.hasScratch || grid[0] == 0 ||
      grid[1] == 0 || grid[2] == 0)
    return;
  auto recorded = LaunchGraph::record(kernel->context(), stream, [&](cuda::Stream own) {
    return kernel->launchResolved(own, grid, pointers, {/*dependent=*/false});
  });
  if (recorded)
    recording = std::move(*recorded);
  else
    llvm::consumeError(recorded.takeError());
}

llvm::Error PreparedLaunch::launch(cuda::Stream stream) {
  for (size_t i = 0; missing && i < isSet.size(); ++i)
    if (!isSet[i])
      return kernel->plan.missingArgument(i);
  // Runs of one graph never overlap, which those on several streams should.
  if (stream != lastStream)
    forgetRecording();
  lastStream = stream;
  if (repeats <= recordAfter)
    ++repeats;
  const cuda::CudaApi &api = kernel->context()->api();
  if (recording || repeats == recordAfter) {
    TILE_ENTER_CONTEXT(api, kernel->context()->handle());
    bool mayRun = !isCapturing(api, stream);
    if (mayRun && !recording)
      record(stream);
    if (mayRun && recording)
      return api.check(recording.run(stream), "cuGraphLaunch");
  }
  return kernel->launchResolved(stream, grid, pointers, options);
}
