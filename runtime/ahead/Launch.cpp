//===- Launch.cpp - launching kernels that were built ahead ---------------===//
//
// The key of a launch's values finds a variant; of its codes the one for the current device
// is loaded once a context and kept in a table that is read without a lock. A kernel's
// state is made by whoever launches first, and stays as long as the process.
//
//===----------------------------------------------------------------------===//
#include "runtime/GridForms.h"
#include "runtime/MapStrides.h"
#include "runtime/ahead/Find.h"
#include <algorithm>
#include <limits>

using namespace tile::ahead;
using namespace tile::dispatch;

/// `tilec build` sees to it that no kernel has more.
static constexpr unsigned kMostParameters = TILE_RT_MOST_PARAMETERS, kMostMaps = TILE_RT_MOST_MAPS,
                          kMostNumbers = 16;

static thread_local std::string lastError;
const char *tile_rt_last_error(void) { return lastError.c_str(); }

tile_status tile::ahead::finish(Failure failure) {
  if (failure)
    lastError = std::move(failure.message);
  return failure.status;
}

/// Whether the map can describe the array of this launch; it is made if so.
static Failure encode(const Driver &driver, const tile_rt_map &map, const tile_value *values,
                      TensorMap &out, bool &isSuitable) {
  int64_t numbers[kMostNumbers];
  isSuitable = false;
  if (run(map.numbers, values, numbers) != FormulaFailure::None)
    return {}; // its numbers need more than 64 bits: no array
  const unsigned rank = map.rank;
  const int64_t *sizes = numbers + 1, *others = sizes + 2 * rank - 1;
  int64_t *strides = numbers + 1 + rank;
  bool good = numbers[0] % 16 == 0 && (!map.stored || sizes[0] * map.element_bytes % 16 == 0);
  tile::runtime::makeMapStrides(sizes, strides, rank, map.element_bytes);
  uint64_t extents[5], steps[5];
  const uint32_t ones[5] = {1, 1, 1, 1, 1};
  for (unsigned i = 0; i < rank; ++i) {
    good = good && sizes[i] > 0 && sizes[i] <= INT32_MAX;
    extents[i] = uint64_t(sizes[i]);
  }
  for (unsigned i = 0; i + 1 < rank; ++i) {
    good = good && strides[i] >= 0 && strides[i] % 16 == 0 && strides[i] < int64_t(1) << 40;
    steps[i] = uint64_t(strides[i]);
  }
  for (const int64_t *n = others; n < numbers + map.numbers.results; ++n)
    good = good && *n >= 0;
  isSuitable = good;
  if (!good)
    return {};
  Result result = driver.cuTensorMapEncodeTiled(
      &out, TensorMapDataType(map.type), rank, reinterpret_cast<void *>(numbers[0]), extents, steps,
      map.box, ones, TensorMapInterleave::None, TensorMapSwizzle(map.swizzle),
      TensorMapL2Promotion::L2_128B, TensorMapFloatOobFill::None);
  return result == Result::Success ? Failure() : driver.failed(result, "cuTensorMapEncodeTiled");
}

static Failure missing(const tile_rt_code &code, uint32_t index) {
  return {TILE_INVALID_ARGUMENT, "argument " + std::to_string(index) + " of `" + code.entry +
                                     "` is None, and the kernel reads it"};
}

/// A part of a descriptor.
static Failure locate(const tile_rt_code &code, const tile_rt_parameter &parameter,
                      const void *argument, void *&out) {
  if (!argument)
    return missing(code, parameter.index);
  auto *descriptor = static_cast<const tile_descriptor *>(argument);
  const void *value = argument;
  if (parameter.kind == TILE_RT_DESC_BASE)
    value = &descriptor->base;
  else if (parameter.kind == TILE_RT_DESC_SHAPE)
    value = &descriptor->shape[parameter.dim];
  else if (parameter.kind == TILE_RT_DESC_STRIDE)
    value = &descriptor->strides[parameter.dim];
  bool isNumber = parameter.kind == TILE_RT_DESC_SHAPE || parameter.kind == TILE_RT_DESC_STRIDE;
  int64_t number = isNumber ? *static_cast<const int64_t *>(value) : 0;
  if (isNumber && parameter.bytes == 4 && number != int32_t(number))
    return {TILE_INVALID_ARGUMENT, "a size or stride of argument " +
                                       std::to_string(parameter.index) + " of `" + code.entry +
                                       "` does not fit 32 bits"};
  out = const_cast<void *>(value);
  return {};
}

/// Where a launch starts blocks: a persistent kernel no more than run at once.
static Failure blocksOf(const Loaded &loaded, const uint32_t (&grid)[3], LaunchConfig &config) {
  const tile_rt_code &code = *loaded.code;
  uint64_t blocks[3];
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t together = uint64_t(code.programs_per_block[axis]);
    blocks[axis] = (grid[axis] + together - 1) / together;
  }
  blocks[0] *= uint64_t(code.blocks_per_program);
  const uint64_t most[3] = {INT32_MAX, 65535, 65535};
  if (code.persistent) {
    uint64_t cluster = uint64_t(code.cluster[0]);
    // A product of three is too large before it is wrong.
    __uint128_t all = __uint128_t(grid[0]) * grid[1] * grid[2];
    if (all > uint64_t(std::numeric_limits<int32_t>::max()) - (cluster - 1))
      return {TILE_INVALID_ARGUMENT,
              std::string("the grid of `") + code.entry + "` has too many programs"};
    uint64_t programs = (uint64_t(all) + cluster - 1) / cluster * cluster;
    uint64_t resident = std::max<uint64_t>(loaded.residentBlocks / cluster, 1) * cluster;
    blocks[0] = std::min(programs, resident);
    blocks[1] = blocks[2] = 1;
  }
  for (int axis = 0; axis < 3; ++axis)
    if (blocks[axis] > most[axis] || blocks[axis] % uint64_t(code.cluster[axis]) != 0)
      return {TILE_INVALID_ARGUMENT, std::string("the grid of `") + code.entry + "` has " +
                                         std::to_string(blocks[axis]) + " blocks along " +
                                         "xyz"[axis] + ", which cannot be"};
  config.gridDimX = unsigned(blocks[0]), config.gridDimY = unsigned(blocks[1]);
  config.gridDimZ = unsigned(blocks[2]);
  return {};
}

namespace {
/// The parameters of one launch: pointers to what is the caller's, and what is made.
struct Made {
  void *pointers[kMostParameters];
  TensorMap maps[kMostMaps];
  DevicePtr scratch[kMostMaps];
  unsigned numScratch = 0;
};
} // namespace

/// Fills in everything; `takesOther` becomes whether tensor maps cannot describe an array.
static Failure fill(Launch &launch, const Loaded &loaded, Made &made, bool &takesOther) {
  const Driver &driver = *launch.driver;
  const tile_rt_code &code = *loaded.code;
  for (uint32_t i = 0; i < code.num_parameters; ++i) {
    const tile_rt_parameter &parameter = code.parameters[i];
    void *&pointer = made.pointers[i];
    switch (parameter.kind) {
    case TILE_RT_CONST:
      pointer = const_cast<uint64_t *>(&parameter.bytes);
      break;
    case TILE_RT_NUM_PROGRAMS:
      pointer = &launch.grid[parameter.dim];
      break;
    case TILE_RT_TENSOR_MAP: {
      bool isSuitable = false;
      if (Failure failure = encode(driver, code.maps[parameter.index], launch.values,
                                   made.maps[parameter.index], isSuitable))
        return failure;
      takesOther = takesOther || !isSuitable;
      pointer = &made.maps[parameter.index];
      break;
    }
    case TILE_RT_SCRATCH: {
      uint64_t programs = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
      uint64_t bytes = parameter.bytes * (parameter.per_program ? programs : 1);
      DevicePtr &buffer = made.scratch[made.numScratch];
      buffer = 0;
      Result result = driver.cuMemAllocAsync(&buffer, bytes ? bytes : 1, launch.stream);
      if (result != Result::Success)
        return driver.failed(result, "cannot get " + std::to_string(bytes) +
                                         " bytes of scratch memory for `" + code.entry + "`");
      ++made.numScratch;
      if (parameter.zero)
        result = driver.cuMemsetD8Async(buffer, 0, bytes ? bytes : 1, launch.stream);
      if (result != Result::Success)
        return driver.failed(result, "cuMemsetD8Async");
      pointer = &buffer;
      break;
    }
    default:
      if (Failure failure =
              locate(code, parameter, launch.passed.pointers[parameter.index], pointer))
        return failure;
    }
  }
  return {};
}

Failure tile::ahead::launchLoaded(Launch &launch, const Loaded &loaded) {
  const Driver &driver = *launch.driver;
  const tile_rt_code &code = *loaded.code;
  const int32_t (&together)[3] = code.programs_per_block;
  bool shares = together[0] > 1 || together[1] > 1 || together[2] > 1;
  auto paysToShare = [&] {
    return code.programs_grow
               ? tile::runtime::paysToShareGrowing(together, launch.grid, loaded.multiprocessors)
               : tile::runtime::paysToShare(together, code.programs_apart, launch.grid,
                                            loaded.multiprocessors);
  };
  if (loaded.alone &&
      (tile::runtime::hasFewPrograms(code.few_programs, launch.grid, loaded.multiprocessors) ||
       (shares && !paysToShare())))
    return launchLoaded(launch, *loaded.alone);
  LaunchConfig config = {};
  if (Failure failure = blocksOf(loaded, launch.grid, config))
    return failure;
  Made made;
  bool takesOther = false;
  Failure failure = fill(launch, loaded, made, takesOther);
  if (!failure && takesOther)
    failure = loaded.withoutMaps
                  ? launchLoaded(launch, *loaded.withoutMaps)
                  : Failure{TILE_INVALID_ARGUMENT,
                            std::string("an array passed to `") + code.entry +
                                "` cannot be copied by the tensor memory accelerator: its "
                                "address and strides must be multiples of 16 bytes, none negative"};
  if (!failure && !takesOther) {
    LaunchAttribute attributes[3];
    unsigned count = 0;
    if (clusterSize(code) > 1)
      attributes[count++] = clusterOf(code);
    if (code.cooperative) {
      attributes[count] = {};
      attributes[count].id = LaunchAttributeId::Cooperative;
      attributes[count++].value.cooperative = 1;
    }
    if (launch.dependent < 0 ? loaded.dependent : launch.dependent != 0) {
      attributes[count] = {};
      attributes[count].id = LaunchAttributeId::ProgrammaticStreamSerialization;
      attributes[count++].value.programmaticStreamSerializationAllowed = 1;
    }
    config.blockDimX = unsigned(code.threads), config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = unsigned(code.shared_bytes);
    config.stream = launch.stream;
    config.attrs = attributes;
    config.numAttrs = count;
    Result result = driver.cuLaunchKernelEx(&config, loaded.function, made.pointers, nullptr);
    if (result != Result::Success)
      failure = cannotLaunch(driver, loaded, result);
  }
  for (unsigned i = 0; i < made.numScratch; ++i)
    if (Result result = driver.cuMemFreeAsync(made.scratch[i], launch.stream);
        result != Result::Success && !failure)
      failure = driver.failed(result, "cuMemFreeAsync");
  return failure;
}

static Failure computeGrid(Launch &launch, const uint32_t *given) {
  const tile_rt_kernel &kernel = *launch.kernel;
  if (given) {
    std::copy(given, given + 3, launch.grid);
    return {};
  }
  const tile_rt_formula *grid = launch.configuration->grid;
  if (!grid)
    return {TILE_INVALID_ARGUMENT,
            std::string("no grid is given for `") + kernel.name + "`, which computes none"};
  int64_t extents[3] = {1, 1, 1};
  FormulaFailure failure = run(*grid, launch.values, extents);
  if (failure != FormulaFailure::None)
    return {TILE_INVALID_ARGUMENT, std::string("the grid of `") + kernel.name +
                                       "` cannot be computed: " + explain(failure)};
  for (int axis = 0; axis < 3; ++axis) {
    if (extents[axis] < 0 || extents[axis] > (axis ? 65535 : INT32_MAX))
      return {TILE_INVALID_ARGUMENT, std::string("the grid of `") + kernel.name + "` has " +
                                         std::to_string(extents[axis]) + " programs along " +
                                         "xyz"[axis] + ", which cannot be"};
    launch.grid[axis] = uint32_t(extents[axis]);
  }
  return {};
}

/// Fills in the values that were left out; the result is `values` or `filled`.
static const tile_value *complete(const tile_rt_kernel &kernel, const tile_value *values,
                                  size_t count, tile_value *filled, Failure &failure) {
  if (count == kernel.num_arguments)
    return values;
  if (count > kernel.num_arguments || count + kernel.num_defaults < kernel.num_arguments) {
    failure = {TILE_INVALID_ARGUMENT, std::string("`") + kernel.name + "` takes " +
                                          std::to_string(kernel.num_arguments) + " arguments; " +
                                          std::to_string(count) + " passed"};
    return nullptr;
  }
  std::copy(values, values + count, filled);
  for (size_t i = count; i < kernel.num_arguments; ++i)
    filled[i] = kernel.defaults[i - (kernel.num_arguments - kernel.num_defaults)];
  return filled;
}

static Failure launchKernel(Launch &launch, const uint32_t *grid, const tile_value *values,
                            size_t count) {
  tile_value filled[kMostArguments];
  Failure failure;
  launch.values = complete(*launch.kernel, values, count, filled, failure);
  if (!launch.values)
    return failure;
  launch.driver = Driver::get(failure);
  if (!launch.driver)
    return failure;
  CurrentContext context(*launch.driver, failure);
  if (failure)
    return failure;
  Key key;
  if ((failure = readKey(launch, context.id, key)))
    return failure;
  if ((failure = computeGrid(launch, grid)))
    return failure;
  const Loaded *loaded = nullptr;
  if ((failure = find(launch, context.id, key, loaded)))
    return failure;
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0)
    return {};
  return launchLoaded(launch, *loaded);
}

static Failure check(const tile_rt_kernel *kernel) {
  if (!kernel)
    return {TILE_INVALID_ARGUMENT, "`kernel` is null"};
  if (kernel->version != TILE_RT_VERSION)
    return {TILE_INVALID_ARGUMENT, "the kernel was built by another version of `tilec build`"};
  return {};
}

static Failure launchValues(tile_rt_kernel *kernel, void *stream, const uint32_t *grid,
                            const tile_value *values, size_t num_values,
                            const tile_launch_options *options) {
  if (Failure failure = check(kernel))
    return failure;
  if ((num_values && !values) || num_values > kMostArguments)
    return {TILE_INVALID_ARGUMENT, "`values` is null, or there are too many"};
  Launch launch;
  launch.kernel = kernel;
  launch.stream = static_cast<Stream>(stream);
  if (options && options->size > offsetof(tile_launch_options, dependent))
    launch.dependent = options->dependent;
  return launchKernel(launch, grid, values, num_values);
}

tile_status tile_rt_launch(tile_rt_kernel *kernel, void *stream, const uint32_t grid[3],
                           const tile_value *values, size_t num_values,
                           const tile_launch_options *options) {
  return guarded([&] { return launchValues(kernel, stream, grid, values, num_values, options); });
}

static Failure loadAll(tile_rt_kernel *kernel) {
  Failure failure = check(kernel);
  if (failure)
    return failure;
  const Driver *driver = Driver::get(failure);
  if (!driver)
    return failure;
  CurrentContext context(*driver, failure);
  for (uint32_t i = 0; i < kernel->num_variants && !failure; ++i) {
    const tile_rt_variant &variant = kernel->variants[i];
    bool isReached = true;
    if (kernel->num_choices)
      failure =
          canBeChosen(kernel, *driver, context.id, configurationIn(*kernel, variant), isReached);
    if (failure || !isReached)
      continue;
    Key key;
    key.add(context.id);
    for (uint32_t w = 0; w < variant.size; ++w)
      key.add(variant.words[w]);
    const Loaded *loaded = nullptr;
    if (!(failure = loadVariant(kernel, *driver, variant, key, loaded)))
      failure = checkResidency(*driver, *loaded); // not first by a launch
  }
  return failure;
}

tile_status tile_rt_load(tile_rt_kernel *kernel) {
  return guarded([&] { return loadAll(kernel); });
}

static Failure bestConfig(tile_rt_kernel *kernel, const tile_value *values, size_t count,
                          const char **config) {
  Failure failure = check(kernel);
  if (failure)
    return failure;
  if (!config || (count && !values) || count > kMostArguments)
    return {TILE_INVALID_ARGUMENT, "`config` or `values` is null, or there are too many values"};
  *config = nullptr;
  if (!kernel->num_choices) {
    *config = kernel->configurations[0].text;
    return {};
  }
  tile_value filled[kMostArguments];
  Launch launch;
  launch.kernel = kernel;
  launch.values = complete(*kernel, values, count, filled, failure);
  if (launch.values)
    launch.driver = Driver::get(failure);
  if (failure)
    return failure;
  CurrentContext context(*launch.driver, failure);
  Key key;
  if (!failure)
    failure = readKey(launch, context.id, key);
  if (!failure)
    *config = launch.configuration->text;
  return failure;
}

tile_status tile_rt_best_config(tile_rt_kernel *kernel, const tile_value *values, size_t num_values,
                                const char **config) {
  return guarded([&] { return bestConfig(kernel, values, num_values, config); });
}
