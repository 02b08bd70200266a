//===- Load.cpp - built kernels on contexts --------------------------------===//
#include "runtime/ahead/Loaded.h"
#include "runtime/ahead/MadeOnce.h"
#include "runtime/dispatch/AssemblerPlan.h"
#include <cstring>

using namespace tile;
using namespace tile::ahead;
using namespace tile::dispatch;

CurrentContext::CurrentContext(const Driver &driver, Failure &failure) : driver(driver) {
  Context context = nullptr;
  Result result = driver.cuCtxGetCurrent(&context);
  if (result == Result::Success && !context) {
    Device device = 0;
    result = driver.cuDeviceGet(&device, 0);
    static std::mutex mutex;
    static Context primary = nullptr; // stays retained
    std::lock_guard<std::mutex> lock(mutex);
    if (result == Result::Success && !primary)
      result = driver.cuDevicePrimaryCtxRetain(&primary, device);
    if (result == Result::Success)
      result = driver.cuCtxPushCurrent(context = primary);
    pushed = result == Result::Success;
  }
  if (result == Result::Success)
    result = driver.cuCtxGetId(context, &id);
  if (result != Result::Success)
    failure = driver.failed(result, "no context to launch on");
}

State &ahead::stateOf(tile_rt_kernel *kernel) { return madeOnce<State>(kernel->state); }

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static bool attribute(const Driver &driver, DeviceAttribute which, Device device, int &value) {
  return driver.cuDeviceGetAttribute(&value, which, device) == Result::Success;
}

/// What is for this chip alone (machine code, PTX of such a target), before the newest that it can
/// take.
template <typename Built>
static const Built *bestFor(const Built *all, uint32_t count, int capability) {
  const Built *best = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    const Built &one = all[i];
    bool fits = one.exact ? one.capability == capability : one.capability <= capability;
    auto rank = [](const Built &of) { return of.capability * 2 + of.exact; };
    if (fits && (!best || rank(one) > rank(*best)))
      best = &one;
  }
  return best;
}

const tile_rt_code *ahead::chooseCode(const tile_rt_variant &variant, int capability) {
  return bestFor(variant.codes, variant.num_codes, capability);
}

const tile_rt_plan *ahead::choosePlan(const tile_rt_function &function, int capability) {
  return bestFor(function.plans, function.num_plans, capability);
}

LaunchAttribute ahead::clusterOf(const tile_rt_code &code) {
  LaunchAttribute attribute = {};
  attribute.id = LaunchAttributeId::ClusterDimension;
  attribute.value.clusterDim.x = unsigned(code.cluster[0]);
  attribute.value.clusterDim.y = unsigned(code.cluster[1]);
  attribute.value.clusterDim.z = unsigned(code.cluster[2]);
  return attribute;
}

int ahead::clusterSize(const tile_rt_code &code) {
  return code.cluster[0] * code.cluster[1] * code.cluster[2];
}

/// How many blocks the chip runs at once; a kernel that can never run is a failure.
static Failure measureResidency(const Driver &driver, Loaded &loaded) {
  Device device = 0;
  if (Result result = driver.cuCtxGetDevice(&device); result != Result::Success)
    return driver.failed(result, "cuCtxGetDevice");
  const tile_rt_code &code = *loaded.code;
  int blocks = 0, processors = 0;
  Result result = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, loaded.function, code.threads, size_t(code.shared_bytes));
  if (result != Result::Success)
    return driver.failed(result, std::string("cannot load `") + code.entry + "`");
  if (clusterSize(code) > 1) {
    LaunchAttribute cluster = clusterOf(code);
    LaunchConfig config = {};
    config.gridDimX = unsigned(code.cluster[0]), config.gridDimY = unsigned(code.cluster[1]);
    config.gridDimZ = unsigned(code.cluster[2]);
    config.blockDimX = unsigned(code.threads), config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = unsigned(code.shared_bytes);
    config.attrs = &cluster;
    config.numAttrs = 1;
    result = driver.cuOccupancyMaxActiveClusters(&blocks, loaded.function, &config);
    if (result != Result::Success)
      return driver.failed(result, std::string("cannot load `") + code.entry + "`");
    blocks *= clusterSize(code);
    processors = 1;
  } else if (!attribute(driver, DeviceAttribute::MultiprocessorCount, device, processors)) {
    return driver.failed(Result::Unknown, "cannot ask the device for its multiprocessors");
  }
  loaded.residentBlocks = unsigned(blocks) * unsigned(processors);
  loaded.multiprocessors = unsigned(processors);
  if (blocks > 0)
    return {};
  return {TILE_RESOURCES, std::string("a block of `") + code.entry +
                              "` does not fit a multiprocessor of this device: it has " +
                              std::to_string(code.threads) + " threads and " +
                              std::to_string(code.shared_bytes) + " bytes of shared memory"};
}

Failure ahead::checkResidency(const Driver &driver, const Loaded &loaded) {
  Loaded measured = loaded;
  return measureResidency(driver, measured);
}

Failure ahead::cannotLaunch(const Driver &driver, const Loaded &loaded, Result result) {
  if (result == Result::LaunchOutOfResources || result == Result::InvalidClusterSize)
    if (Failure failure = checkResidency(driver, loaded))
      return failure;
  return driver.failed(result, std::string("cannot launch `") + loaded.code->entry + "`");
}

/// The image as a module; PTX is assembled at `level`. `localBytes`, if anybody asks: of a thread.
static Failure loadImage(const Driver &driver, const tile_rt_code &code, const void *image,
                         int level, Module &module, Function &function, int *localBytes) {
  std::string what = std::string("cannot load `") + code.entry + "`";
  char log[2048] = "";
  JitOption names[] = {JitOption::ErrorLogBuffer, JitOption::ErrorLogBufferSizeBytes,
                       JitOption::OptimizationLevel};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log),
                    reinterpret_cast<void *>(size_t(level))};
  unsigned options = level == kDefaultLevel ? 2 : 3;
  Result result = driver.cuModuleLoadDataEx(&module, image, options, names, values);
  if (result != Result::Success) {
    Failure failure = driver.failed(result, what);
    failure.message += log[0] ? std::string("\n") + log : "";
    return failure;
  }
  result = driver.cuModuleGetFunction(&function, module, code.entry);
  if (result == Result::Success && localBytes)
    result = driver.cuFuncGetAttribute(localBytes, FunctionAttribute::LocalSizeBytes, function);
  if (result == Result::Success)
    return {};
  (void)driver.cuModuleUnload(module);
  return driver.failed(result, what);
}

/// Machine code was assembled with care when it was built.
static bool isPtx(const tile_rt_code &code) { return std::memcmp(code.image, "\177ELF", 4) != 0; }

static Failure loadFunction(const Driver &driver, const tile_rt_code &code, Module &module,
                            Function &function) {
  if (!isPtx(code))
    return loadImage(driver, code, code.image, kDefaultLevel, module, function, nullptr);
  int localBytes = 0;
  AssemblerPlan plan(static_cast<const char *>(code.image));
  while (plan.next()) {
    Module other = nullptr;
    Function entry = nullptr;
    Failure failure =
        loadImage(driver, code, plan.text().data(), plan.level(), other, entry, &localBytes);
    if (!failure && plan.keeps(localBytes)) {
      std::swap(module, other);
      function = entry;
    } else if (failure) {
      other = module; // what failed is gone
    }
    if (other)
      (void)driver.cuModuleUnload(other);
    if (failure)
      return failure;
  }
  return {};
}

/// `isInstead`: of another code, which goes on without it where it cannot run.
static Failure load(const Driver &driver, const tile_rt_code &code, bool isInstead,
                    const Loaded *&out) {
  auto loaded = std::make_unique<Loaded>();
  loaded->code = &code;
  Module module = nullptr;
  if (Failure failure = loadFunction(driver, code, module, loaded->function))
    return failure;
  Result result = Result::Success;
  constexpr int withoutOptin = 48 * 1024, portable = 8;
  if (result == Result::Success && code.shared_bytes > withoutOptin)
    result = driver.cuFuncSetAttribute(
        loaded->function, FunctionAttribute::MaxDynamicSharedSizeBytes, code.shared_bytes);
  if (result == Result::Success && clusterSize(code) > portable)
    result = driver.cuFuncSetAttribute(loaded->function,
                                       FunctionAttribute::NonPortableClusterSizeAllowed, 1);
  Failure failure;
  if (result != Result::Success)
    failure = driver.failed(result, std::string("cannot load `") + code.entry + "`");
  else if (code.persistent || code.alone || isInstead) // others are measured once a launch fails
    failure = measureResidency(driver, *loaded);
  // The first driver that captures dependent launches into graphs.
  constexpr int dependentLaunchVersion = 12030;
  loaded->dependent =
      code.dependent && !code.cooperative && driver.version >= dependentLaunchVersion;
  if (!failure && code.without_maps)
    failure = load(driver, *code.without_maps, /*isInstead=*/false, loaded->withoutMaps);
  if (!failure && code.alone) // Without it small grids go on with this one.
    (void)load(driver, *code.alone, /*isInstead=*/true, loaded->alone);
  if (failure) {
    (void)driver.cuModuleUnload(module);
    return failure;
  }
  out = loaded.release(); // as long as the process
  return {};
}

Failure ahead::loadCode(const Driver &driver, const tile_rt_code &code, const Loaded *&out) {
  return load(driver, code, /*isInstead=*/false, out);
}

Failure ahead::capabilityOf(const Driver &driver, Device &device, int &capability) {
  int major = 0, minor = 0;
  if (Result result = driver.cuCtxGetDevice(&device); result != Result::Success)
    return driver.failed(result, "cuCtxGetDevice");
  if (!attribute(driver, DeviceAttribute::ComputeCapabilityMajor, device, major) ||
      !attribute(driver, DeviceAttribute::ComputeCapabilityMinor, device, minor))
    return driver.failed(Result::Unknown, "cannot ask the device what it is");
  capability = major * 10 + minor;
  return {};
}

Failure ahead::notForDevice(const char *name, int capability) {
  return {TILE_UNSUPPORTED, std::string("`") + name +
                                "` was not built for this device, which is of compute capability " +
                                std::to_string(capability / 10) + "." +
                                std::to_string(capability % 10)};
}

Failure ahead::loadVariant(tile_rt_kernel *kernel, const Driver &driver,
                           const tile_rt_variant &variant, const Key &key, const Loaded *&out) {
  State &state = stateOf(kernel);
  uint64_t hash = key.hash();
  // Held while loading: the second thread waits for the first one's result.
  std::lock_guard<std::mutex> lock(state.mutex);
  if (const Loaded **known = state.table.find(key.words, key.size, hash)) {
    out = *known;
    return {};
  }
  Device device = 0;
  int capability = 0;
  if (Failure failure = capabilityOf(driver, device, capability))
    return failure;
  const tile_rt_code *code = chooseCode(variant, capability);
  if (!code)
    return notForDevice(kernel->name, capability);
  if (Failure failure = loadCode(driver, *code, out))
    return failure;
  state.table.insert(key.words, key.size, hash, out);
  return {};
}
