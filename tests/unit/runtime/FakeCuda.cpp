//===- FakeCuda.cpp - exports the driver's symbols, runs nothing ----------===//
#include "FakeCuda.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <sstream>

using namespace tile::cuda;
using fakecuda::Control;
using fakecuda::Launch;

#define EXPORT extern "C" __attribute__((visibility("default")))

struct CUctx_st {
  int device;
  unsigned long long id;
};
struct CUfunc_st {
  std::string name;
  std::vector<unsigned> parameterBytes;
  int level = 0;      ///< that its PTX was assembled at
  bool bound = false; ///< whether its PTX has a bound of one program
};
struct CUmod_st {
  std::map<std::string, CUfunc_st> functions;
};
struct CUlinkState_st {
  std::string cubin;
  char *errorLog = nullptr;
  size_t errorLogBytes = 0;
};
struct CUstream_st {
  bool capturing = false;
  int priority = 0;
  std::vector<fakecuda::Launch> captured;
};
struct CUevent_st {
  double time = -1;
};
struct CUgraph_st {
  std::vector<fakecuda::Launch> launches;
};
struct CUgraphExec_st {
  std::vector<fakecuda::Launch> launches;
};

namespace {
constexpr int maxDevices = 8;
struct State {
  Control control;
  CUctx_st primaries[maxDevices];
  std::map<DevicePtr, size_t> allocations;
  unsigned long long nextContextId = 100;
  State() {
    for (int i = 0; i < maxDevices; ++i)
      primaries[i] = {i, static_cast<unsigned long long>(i + 1)};
  }
};
State &state() {
  static State instance;
  return instance;
}
thread_local std::vector<Context> contextStack;
const char cubinMagic[] = "FAKECUBIN\n";

/// Records the call and returns what the test wants it to return.
Result enter(const char *symbol) {
  Control &control = state().control;
  if (control.quiet.load(std::memory_order_relaxed))
    return Result::Success;
  std::lock_guard<std::mutex> lock(control.mutex);
  control.calls.push_back(symbol);
  if (control.calls.size() - 1 == control.failingCall)
    return Result::OutOfMemory;
  auto failure = control.failures.find(symbol);
  return failure == control.failures.end() ? Result::Success : failure->second;
}

bool hasContext() { return !contextStack.empty() && contextStack.back(); }
} // namespace

#define ENTER(symbol)                                                                              \
  if (Result forced = enter(#symbol); forced != Result::Success)                                   \
  return forced
#define ENTER_IN_CONTEXT(symbol)                                                                   \
  ENTER(symbol);                                                                                   \
  if (!hasContext())                                                                               \
  return Result::InvalidContext

void Control::reset() {
  std::lock_guard<std::mutex> lock(mutex);
  Control fresh;
  driverVersion = fresh.driverVersion, maxPtxVersion = fresh.maxPtxVersion;
  deviceCount = fresh.deviceCount;
  computeMajor = fresh.computeMajor, computeMinor = fresh.computeMinor;
  sharedOptin = fresh.sharedOptin, registersPerThread = fresh.registersPerThread;
  localBytes = fresh.localBytes, carefulLocalBytes = fresh.carefulLocalBytes;
  unboundLocalBytes = fresh.unboundLocalBytes;
  residentBlocks = fresh.residentBlocks, residentClusters = fresh.residentClusters;
  memoryBytes = fresh.memoryBytes, launchMilliseconds = fresh.launchMilliseconds;
  kernelMilliseconds.clear();
  failures.clear();
  failingCall = SIZE_MAX;
  onLaunch = nullptr;
  calls.clear();
  launches.clear();
  assemblerLevels.clear();
  functionAttributes.clear();
  clock = fillMilliseconds = 0;
  quiet = false;
  quietLaunches = 0;
}

EXPORT Control *fakeCudaControl() { return &state().control; }
EXPORT Context fakeCudaCreateContext(int device) {
  auto *context = new CUctx_st{device, state().nextContextId++};
  contextStack.push_back(context);
  return context;
}
EXPORT void fakeCudaDestroyContext(Context context) {
  std::erase(contextStack, context);
  delete context;
}

//===----------------------------------------------------------------------===//
// Start-up, devices, contexts
//===----------------------------------------------------------------------===//

EXPORT Result cuInit(unsigned) {
  ENTER(cuInit);
  if (std::getenv("FAKE_CUDA_QUIET"))
    state().control.quiet = true;
  return state().control.deviceCount ? Result::Success : Result::NoDevice;
}
EXPORT Result cuDriverGetVersion(int *version) {
  *version = state().control.driverVersion;
  if (const char *wanted = std::getenv("FAKE_CUDA_VERSION"))
    *version = static_cast<int>(std::strtol(wanted, nullptr, 10));
  return Result::Success;
}
struct ErrorText {
  Result code;
  const char *name, *text;
};
static constexpr ErrorText errorTexts[] = {
    {Result::InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {Result::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {Result::NoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {Result::InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {Result::InvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {Result::InvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {Result::UnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {Result::NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {Result::IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {Result::LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {Result::SystemDriverMismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
};
static const ErrorText *findText(Result error) {
  const ErrorText *found =
      std::find_if(std::begin(errorTexts), std::end(errorTexts),
                   [&](const ErrorText &entry) { return entry.code == error; });
  return found == std::end(errorTexts) ? nullptr : found;
}
EXPORT Result cuGetErrorName(Result error, const char **name) {
  const ErrorText *found = findText(error);
  *name = found ? found->name : nullptr;
  return *name ? Result::Success : Result::InvalidValue;
}
EXPORT Result cuGetErrorString(Result error, const char **text) {
  const ErrorText *found = findText(error);
  *text = found ? found->text : nullptr;
  return *text ? Result::Success : Result::InvalidValue;
}
EXPORT Result cuDeviceGetCount(int *count) {
  ENTER(cuDeviceGetCount);
  *count = state().control.deviceCount;
  return Result::Success;
}
EXPORT Result cuDeviceGet(Device *device, int ordinal) {
  ENTER(cuDeviceGet);
  if (ordinal < 0 || ordinal >= state().control.deviceCount)
    return Result::InvalidDevice;
  *device = ordinal;
  return Result::Success;
}
EXPORT Result cuDeviceGetName(char *name, int length, Device device) {
  ENTER(cuDeviceGetName);
  std::snprintf(name, length, "Fake GPU %d", device);
  return Result::Success;
}
EXPORT Result cuDeviceTotalMem_v2(size_t *bytes, Device) {
  ENTER(cuDeviceTotalMem_v2);
  *bytes = state().control.memoryBytes;
  return Result::Success;
}
EXPORT Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute, Device) {
  ENTER(cuDeviceGetAttribute);
  const Control &control = state().control;
  const std::map<DeviceAttribute, int> values = {
      {DeviceAttribute::ComputeCapabilityMajor, control.computeMajor},
      {DeviceAttribute::ComputeCapabilityMinor, control.computeMinor},
      {DeviceAttribute::MultiprocessorCount, 132},
      {DeviceAttribute::MaxThreadsPerBlock, 1024},
      {DeviceAttribute::MaxSharedMemoryPerBlock, 49152},
      {DeviceAttribute::MaxSharedMemoryPerBlockOptin, control.sharedOptin},
      {DeviceAttribute::MaxSharedMemoryPerMultiprocessor, 233472},
      {DeviceAttribute::MaxRegistersPerBlock, 65536},
      {DeviceAttribute::L2CacheSize, 1 << 20},
      {DeviceAttribute::MaxGridDimX, 2147483647},
      {DeviceAttribute::MaxGridDimY, 65535},
      {DeviceAttribute::MaxGridDimZ, 65535},
      {DeviceAttribute::ClusterLaunch, control.computeMajor >= 9},
      {DeviceAttribute::CooperativeLaunch, 1},
      {DeviceAttribute::MemoryPoolsSupported, 1},
  };
  auto found = values.find(attribute);
  if (found == values.end())
    return Result::InvalidValue;
  *value = found->second;
  return Result::Success;
}
EXPORT Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  ENTER(cuDevicePrimaryCtxRetain);
  ++state().control.retainedPrimaries;
  *context = &state().primaries[device];
  return Result::Success;
}
EXPORT Result cuDevicePrimaryCtxRelease_v2(Device) {
  ENTER(cuDevicePrimaryCtxRelease_v2);
  --state().control.retainedPrimaries;
  return Result::Success;
}
EXPORT Result cuCtxGetCurrent(Context *context) {
  ENTER(cuCtxGetCurrent);
  *context = contextStack.empty() ? nullptr : contextStack.back();
  return Result::Success;
}
EXPORT Result cuCtxSetCurrent(Context context) {
  ENTER(cuCtxSetCurrent);
  if (contextStack.empty())
    contextStack.push_back(context);
  contextStack.back() = context;
  return Result::Success;
}
EXPORT Result cuCtxPushCurrent_v2(Context context) {
  ENTER(cuCtxPushCurrent_v2);
  contextStack.push_back(context);
  return Result::Success;
}
EXPORT Result cuCtxPopCurrent_v2(Context *context) {
  ENTER(cuCtxPopCurrent_v2);
  if (contextStack.empty())
    return Result::InvalidContext;
  *context = contextStack.back();
  contextStack.pop_back();
  return Result::Success;
}
EXPORT Result cuCtxGetDevice(Device *device) {
  ENTER_IN_CONTEXT(cuCtxGetDevice);
  *device = contextStack.back()->device;
  return Result::Success;
}
EXPORT Result cuCtxGetId(Context context, unsigned long long *id) {
  ENTER(cuCtxGetId);
  *id = context->id;
  return Result::Success;
}
EXPORT Result cuCtxSynchronize() {
  ENTER_IN_CONTEXT(cuCtxSynchronize);
  return Result::Success;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static unsigned bytesOfPtxType(const std::string &type) {
  size_t digit = type.find_first_of("0123456789");
  return digit == std::string::npos
             ? 8
             : std::max(1u,
                        static_cast<unsigned>(std::strtoul(type.c_str() + digit, nullptr, 10)) / 8);
}

/// Reads `.entry` names and their `.param` types; refuses "BAD_INSTRUCTION".
static Result compilePtx(const std::string &ptx, std::map<std::string, CUfunc_st> &functions,
                         std::string &log) {
  std::istringstream lines(ptx);
  std::string line, current;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (size_t at = line.find(".version"); at != std::string::npos) {
      char *dot = nullptr;
      long major = std::strtol(line.c_str() + at + std::strlen(".version"), &dot, 10);
      long minor = *dot == '.' ? std::strtol(dot + 1, nullptr, 10) : 0;
      if (major * 10 + minor > state().control.maxPtxVersion)
        return Result::UnsupportedPtxVersion;
    }
    if (line.find("BAD_INSTRUCTION") != std::string::npos) {
      log = "ptxas application ptx input, line " + std::to_string(number) +
            "; error   : Not a name of any known instruction: 'BAD_INSTRUCTION'\n"
            "ptxas fatal   : Ptx assembly aborted due to errors\n";
      return Result::InvalidPtx;
    }
    if (size_t at = line.find(".entry "); at != std::string::npos) {
      size_t begin = at + 7, end = line.find_first_of("( \t", begin);
      current = line.substr(begin, end - begin);
      functions[current] = {current, {}};
    }
    if (size_t at = line.find(".param ."); at != std::string::npos && !current.empty()) {
      size_t array = line.find('['); // of bytes
      functions[current].parameterBytes.push_back(
          array == std::string::npos
              ? bytesOfPtxType(line.substr(at + 8, 4))
              : static_cast<unsigned>(std::strtoul(line.c_str() + array + 1, nullptr, 10)));
    }
    if (line.find(')') != std::string::npos)
      current.clear();
  }
  return functions.empty() ? Result::InvalidPtx : Result::Success;
}

static void writeLog(char *buffer, size_t bytes, const std::string &log) {
  if (buffer && bytes)
    std::snprintf(buffer, bytes, "%s", log.c_str());
}

static void findErrorLog(unsigned count, const JitOption *options, void **values, char *&buffer,
                         size_t &bytes) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitOption::ErrorLogBuffer)
      buffer = static_cast<char *>(values[i]);
    if (options[i] == JitOption::ErrorLogBufferSizeBytes)
      bytes = reinterpret_cast<size_t>(values[i]);
  }
}

EXPORT Result cuModuleLoadDataEx(Module *module, const void *image, unsigned numOptions,
                                 JitOption *options, void **values) {
  ENTER_IN_CONTEXT(cuModuleLoadDataEx);
  std::string text = static_cast<const char *>(image);
  bool cubin = text.rfind(cubinMagic, 0) == 0;
  if (cubin)
    text = text.substr(sizeof cubinMagic - 1);
  auto fresh = std::make_unique<CUmod_st>();
  std::string log;
  Result result = compilePtx(text, fresh->functions, log);
  char *buffer = nullptr;
  size_t bytes = 0;
  findErrorLog(numOptions, options, values, buffer, bytes);
  writeLog(buffer, bytes, log);
  if (result != Result::Success)
    return result;
  if (!cubin) {
    int level = 0;
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == JitOption::OptimizationLevel)
        level = static_cast<int>(reinterpret_cast<size_t>(values[i]));
    for (auto &[name, function] : fresh->functions)
      function.level = level, function.bound = text.find(".minnctapersm 1\n") != text.npos;
    std::lock_guard<std::mutex> lock(state().control.mutex);
    state().control.assemblerLevels.push_back(level);
  }
  *module = fresh.release();
  ++state().control.liveModules;
  return Result::Success;
}
EXPORT Result cuModuleUnload(Module module) {
  ENTER_IN_CONTEXT(cuModuleUnload);
  delete module;
  --state().control.liveModules;
  return Result::Success;
}
EXPORT Result cuModuleGetFunction(Function *function, Module module, const char *name) {
  ENTER_IN_CONTEXT(cuModuleGetFunction);
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return Result::NotFound;
  *function = &found->second;
  return Result::Success;
}
EXPORT Result cuLinkCreate_v2(unsigned numOptions, JitOption *options, void **values,
                              LinkState *link) {
  ENTER_IN_CONTEXT(cuLinkCreate_v2);
  *link = new CUlinkState_st;
  findErrorLog(numOptions, options, values, (*link)->errorLog, (*link)->errorLogBytes);
  ++state().control.liveLinks;
  return Result::Success;
}
EXPORT Result cuLinkAddData_v2(LinkState link, JitInputType, void *data, size_t, const char *,
                               unsigned, JitOption *, void **) {
  ENTER_IN_CONTEXT(cuLinkAddData_v2);
  std::string ptx = static_cast<const char *>(data), log;
  std::map<std::string, CUfunc_st> functions;
  Result result = compilePtx(ptx, functions, log);
  writeLog(link->errorLog, link->errorLogBytes, log);
  link->cubin = cubinMagic + ptx;
  return result;
}
EXPORT Result cuLinkComplete(LinkState link, void **cubin, size_t *bytes) {
  ENTER_IN_CONTEXT(cuLinkComplete);
  *cubin = link->cubin.data();
  *bytes = link->cubin.size() + 1; // with its null
  return Result::Success;
}
EXPORT Result cuLinkDestroy(LinkState link) {
  ENTER_IN_CONTEXT(cuLinkDestroy);
  delete link;
  --state().control.liveLinks;
  return Result::Success;
}

//===----------------------------------------------------------------------===//
// Functions and launches
//===----------------------------------------------------------------------===//

EXPORT Result cuFuncGetAttribute(int *value, FunctionAttribute attribute, Function function) {
  ENTER_IN_CONTEXT(cuFuncGetAttribute);
  const Control &control = state().control;
  *value = 0;
  if (attribute == FunctionAttribute::NumRegisters)
    *value = control.registersPerThread;
  if (attribute == FunctionAttribute::LocalSizeBytes)
    *value = function->level == 1                                 ? control.carefulLocalBytes
             : !function->bound && control.unboundLocalBytes >= 0 ? control.unboundLocalBytes
                                                                  : control.localBytes;
  return Result::Success;
}
EXPORT Result cuFuncSetAttribute(Function function, FunctionAttribute attribute, int value) {
  ENTER_IN_CONTEXT(cuFuncSetAttribute);
  Control &control = state().control;
  std::lock_guard<std::mutex> lock(control.mutex);
  control.functionAttributes[function->name + "/" + std::to_string(static_cast<int>(attribute))] =
      value;
  return Result::Success;
}
EXPORT Result cuTensorMapEncodeTiled(TensorMap *map, TensorMapDataType type, unsigned rank,
                                     void *base, const uint64_t *sizes, const uint64_t *strides,
                                     const uint32_t *box, const uint32_t *, TensorMapInterleave,
                                     TensorMapSwizzle swizzle, TensorMapL2Promotion,
                                     TensorMapFloatOobFill) {
  ENTER_IN_CONTEXT(cuTensorMapEncodeTiled);
  for (unsigned i = 0; i + 1 < rank; ++i)
    if (strides[i] % 16 != 0 || strides[i] >> 40 != 0)
      return Result::InvalidValue;
  // What a test can read back.
  *map = {{reinterpret_cast<uint64_t>(base), uint64_t(type), rank, uint64_t(swizzle), sizes[0],
           rank > 1 ? sizes[1] : 0, rank > 1 ? strides[0] : 0, box[0], rank > 1 ? box[1] : 0}};
  return Result::Success;
}
/// Captured launches are noted too, but nothing happens.
static void run(Launch launch) {
  Control &control = state().control;
  if (control.onLaunch && !launch.captured)
    control.onLaunch(launch);
  std::lock_guard<std::mutex> lock(control.mutex);
  auto cost = control.kernelMilliseconds.find(launch.kernel);
  control.clock +=
      cost == control.kernelMilliseconds.end() ? control.launchMilliseconds : cost->second;
  control.launches.push_back(std::move(launch));
}
EXPORT Result cuLaunchKernelEx(const LaunchConfig *config, Function function, void **parameters,
                               void **) {
  ENTER_IN_CONTEXT(cuLaunchKernelEx);
  if (state().control.quiet.load(std::memory_order_relaxed)) {
    state().control.quietLaunches.add(1);
    return Result::Success;
  }
  Launch launch;
  launch.kernel = function->name;
  const unsigned grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  const unsigned block[3] = {config->blockDimX, config->blockDimY, config->blockDimZ};
  std::copy(grid, grid + 3, launch.grid);
  std::copy(block, block + 3, launch.block);
  launch.sharedBytes = config->sharedMemBytes;
  launch.stream = config->stream;
  launch.context = contextStack.back();
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const LaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == LaunchAttributeId::ClusterDimension) {
      launch.hasCluster = true;
      launch.cluster[0] = attribute.value.clusterDim.x;
      launch.cluster[1] = attribute.value.clusterDim.y;
      launch.cluster[2] = attribute.value.clusterDim.z;
    }
    launch.cooperative |=
        attribute.id == LaunchAttributeId::Cooperative && attribute.value.cooperative;
    launch.dependent |= attribute.id == LaunchAttributeId::ProgrammaticStreamSerialization &&
                        attribute.value.programmaticStreamSerializationAllowed;
  }
  launch.captured = config->stream && config->stream->capturing;
  for (size_t i = 0; i < function->parameterBytes.size(); ++i)
    launch.parameters.emplace_back(static_cast<const char *>(parameters[i]),
                                   function->parameterBytes[i]);
  if (launch.captured)
    config->stream->captured.push_back(launch);
  run(std::move(launch));
  return Result::Success;
}
EXPORT Result cuOccupancyMaxActiveClusters(int *clusters, Function, const LaunchConfig *) {
  ENTER_IN_CONTEXT(cuOccupancyMaxActiveClusters);
  *clusters = state().control.residentClusters;
  return Result::Success;
}
EXPORT Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function, int, size_t) {
  ENTER_IN_CONTEXT(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  *blocks = state().control.residentBlocks;
  return Result::Success;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Result allocate(DevicePtr *pointer, size_t bytes) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.control.mutex);
  if (bytes > all.control.memoryBytes - all.control.allocatedBytes)
    return Result::OutOfMemory;
  *pointer = reinterpret_cast<DevicePtr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  all.allocations[*pointer] = bytes;
  all.control.allocatedBytes += bytes;
  return Result::Success;
}
static Result release(DevicePtr pointer) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.control.mutex);
  auto found = all.allocations.find(pointer);
  if (found == all.allocations.end())
    return Result::InvalidValue;
  all.control.allocatedBytes -= found->second;
  std::free(reinterpret_cast<void *>(pointer));
  all.allocations.erase(found);
  return Result::Success;
}
/// Whether [pointer, pointer + bytes) lies inside one allocation.
static bool isDeviceRange(DevicePtr pointer, size_t bytes) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.control.mutex);
  auto next = all.allocations.upper_bound(pointer);
  if (next == all.allocations.begin())
    return false;
  auto [begin, size] = *std::prev(next);
  return pointer - begin <= size && bytes <= size - (pointer - begin);
}

EXPORT Result cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  ENTER_IN_CONTEXT(cuMemGetInfo_v2);
  std::lock_guard<std::mutex> lock(state().control.mutex);
  *totalBytes = state().control.memoryBytes;
  *freeBytes = *totalBytes - state().control.allocatedBytes;
  return Result::Success;
}
EXPORT Result cuMemAlloc_v2(DevicePtr *pointer, size_t bytes) {
  ENTER_IN_CONTEXT(cuMemAlloc_v2);
  return allocate(pointer, bytes);
}
EXPORT Result cuMemFree_v2(DevicePtr pointer) {
  ENTER_IN_CONTEXT(cuMemFree_v2);
  return release(pointer);
}
EXPORT Result cuMemAllocAsync(DevicePtr *pointer, size_t bytes, Stream) {
  ENTER_IN_CONTEXT(cuMemAllocAsync);
  return allocate(pointer, bytes);
}
EXPORT Result cuMemFreeAsync(DevicePtr pointer, Stream) {
  ENTER_IN_CONTEXT(cuMemFreeAsync);
  return release(pointer);
}
EXPORT Result cuMemcpyHtoDAsync_v2(DevicePtr to, const void *from, size_t bytes, Stream) {
  ENTER_IN_CONTEXT(cuMemcpyHtoDAsync_v2);
  if (!isDeviceRange(to, bytes))
    return Result::InvalidValue;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return Result::Success;
}
EXPORT Result cuMemcpyDtoHAsync_v2(void *to, DevicePtr from, size_t bytes, Stream) {
  ENTER_IN_CONTEXT(cuMemcpyDtoHAsync_v2);
  if (!isDeviceRange(from, bytes))
    return Result::InvalidValue;
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return Result::Success;
}
EXPORT Result cuMemcpyDtoDAsync_v2(DevicePtr to, DevicePtr from, size_t bytes, Stream) {
  ENTER_IN_CONTEXT(cuMemcpyDtoDAsync_v2);
  if (!isDeviceRange(to, bytes) || !isDeviceRange(from, bytes))
    return Result::InvalidValue;
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  return Result::Success;
}
EXPORT Result cuMemsetD8Async(DevicePtr to, unsigned char value, size_t count, Stream) {
  ENTER_IN_CONTEXT(cuMemsetD8Async);
  if (!isDeviceRange(to, count))
    return Result::InvalidValue;
  std::memset(reinterpret_cast<void *>(to), value, count);
  state().control.clock += state().control.fillMilliseconds;
  return Result::Success;
}

//===----------------------------------------------------------------------===//
// Streams, events, graphs
//===----------------------------------------------------------------------===//

EXPORT Result cuStreamCreate(Stream *stream, unsigned) {
  ENTER_IN_CONTEXT(cuStreamCreate);
  *stream = new CUstream_st;
  ++state().control.liveStreams;
  return Result::Success;
}
EXPORT Result cuStreamCreateWithPriority(Stream *stream, unsigned, int priority) {
  ENTER_IN_CONTEXT(cuStreamCreateWithPriority);
  *stream = new CUstream_st;
  (*stream)->priority = priority;
  ++state().control.liveStreams;
  return Result::Success;
}
EXPORT Result cuStreamGetPriority(Stream stream, int *priority) {
  ENTER(cuStreamGetPriority);
  *priority = stream->priority;
  return Result::Success;
}
EXPORT Result cuStreamCopyAttributes(Stream, Stream) {
  ENTER(cuStreamCopyAttributes);
  return Result::Success;
}
EXPORT Result cuThreadExchangeStreamCaptureMode(CaptureMode *mode) {
  ENTER(cuThreadExchangeStreamCaptureMode);
  static thread_local CaptureMode current = CaptureMode::Global;
  std::swap(current, *mode);
  return Result::Success;
}
EXPORT Result cuStreamDestroy_v2(Stream stream) {
  ENTER(cuStreamDestroy_v2);
  delete stream;
  --state().control.liveStreams;
  return Result::Success;
}
EXPORT Result cuStreamSynchronize(Stream stream) {
  ENTER_IN_CONTEXT(cuStreamSynchronize);
  return stream && stream->capturing ? Result::Unknown : Result::Success;
}
EXPORT Result cuStreamBeginCapture_v2(Stream stream, CaptureMode) {
  ENTER(cuStreamBeginCapture_v2);
  stream->capturing = true;
  return Result::Success;
}
EXPORT Result cuStreamEndCapture(Stream stream, Graph *graph) {
  ENTER(cuStreamEndCapture);
  stream->capturing = false;
  *graph = new CUgraph_st{std::move(stream->captured)};
  stream->captured.clear();
  return Result::Success;
}
EXPORT Result cuStreamIsCapturing(Stream stream, CaptureStatus *status) {
  ENTER(cuStreamIsCapturing);
  *status = stream && stream->capturing ? CaptureStatus::Active : CaptureStatus::None;
  return Result::Success;
}
EXPORT Result cuGraphInstantiateWithFlags(GraphExec *executable, Graph graph, unsigned long long) {
  ENTER(cuGraphInstantiateWithFlags);
  *executable = new CUgraphExec_st{graph->launches};
  ++state().control.liveGraphs;
  return Result::Success;
}
EXPORT Result cuGraphLaunch(GraphExec executable, Stream stream) {
  ENTER_IN_CONTEXT(cuGraphLaunch);
  if (state().control.quiet.load(std::memory_order_relaxed)) {
    state().control.quietLaunches.add(unsigned(executable->launches.size()));
    return Result::Success;
  }
  for (Launch launch : executable->launches) {
    launch.stream = stream;
    launch.captured = false;
    run(std::move(launch));
  }
  return Result::Success;
}
EXPORT Result cuGraphExecDestroy(GraphExec executable) {
  ENTER(cuGraphExecDestroy);
  delete executable;
  --state().control.liveGraphs;
  return Result::Success;
}
EXPORT Result cuGraphDestroy(Graph graph) {
  ENTER(cuGraphDestroy);
  delete graph;
  return Result::Success;
}
EXPORT Result cuEventCreate(Event *event, unsigned) {
  ENTER_IN_CONTEXT(cuEventCreate);
  *event = new CUevent_st;
  ++state().control.liveEvents;
  return Result::Success;
}
EXPORT Result cuEventDestroy_v2(Event event) {
  ENTER(cuEventDestroy_v2);
  delete event;
  --state().control.liveEvents;
  return Result::Success;
}
EXPORT Result cuEventRecord(Event event, Stream) {
  ENTER_IN_CONTEXT(cuEventRecord);
  std::lock_guard<std::mutex> lock(state().control.mutex);
  event->time = state().control.clock;
  return Result::Success;
}
EXPORT Result cuEventSynchronize(Event event) {
  ENTER(cuEventSynchronize);
  return event->time < 0 ? Result::InvalidHandle : Result::Success;
}
EXPORT Result cuEventElapsedTime(float *milliseconds, Event start, Event end) {
  ENTER(cuEventElapsedTime);
  *milliseconds = static_cast<float>(end->time - start->time);
  return Result::Success;
}
