//===- CudaHeaderTest.cpp - our declarations against the real cuda.h ------===//
//
// Built only where the CUDA toolkit's header is found; everything is checked
// at compile time. Handles must be the same types, other types the same size
// and kind, enumerators and struct members at the same values and offsets.
//
//===----------------------------------------------------------------------===//
#include "runtime/CudaTypes.h"
#include <gtest/gtest.h>
#include <tuple>
#include <type_traits>

#include <cuda.h>

namespace {
using namespace tile;

/// Whether a value of type Ours can be passed where the driver has Theirs.
template <typename Ours, typename Theirs> constexpr bool sameAbi() {
  constexpr bool bothNumbers = (std::is_integral_v<Ours> || std::is_enum_v<Ours>) &&
                               (std::is_integral_v<Theirs> || std::is_enum_v<Theirs>);
  if constexpr (std::is_same_v<Ours, Theirs>)
    return true;
  else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>)
    return sameAbi<std::remove_cv_t<std::remove_pointer_t<Ours>>,
                   std::remove_cv_t<std::remove_pointer_t<Theirs>>>();
  else if constexpr (bothNumbers)
    return sizeof(Ours) == sizeof(Theirs);
  else if constexpr (requires { sizeof(Ours) + sizeof(Theirs); }) // structs; not handles
    return std::is_class_v<Ours> && std::is_class_v<Theirs> && sizeof(Ours) == sizeof(Theirs);
  else
    return false;
}

template <typename Ours, typename Theirs> struct SameCall : std::false_type {};
template <typename... Ours, typename... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct SameCall<cuda::Result(Ours...), CUresult(Theirs...)>
    : std::bool_constant<(sameAbi<Ours, Theirs>() && ...)> {};

namespace declarations {
using namespace tile::cuda;
#define TILE_CUDA_SYMBOL(name, symbol, parameters)                                                 \
  static_assert(SameCall<Result parameters, std::remove_pointer_t<decltype(&::symbol)>>::value,    \
                #symbol " is declared differently in cuda.h");
#include "runtime/CudaSymbols.def"
} // namespace declarations

#define SAME_VALUE(ours, theirs)                                                                   \
  static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #ours " differs "              \
                                                                          "from " #theirs)

SAME_VALUE(cuda::Result::Success, CUDA_SUCCESS);
SAME_VALUE(cuda::Result::InvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME_VALUE(cuda::Result::OutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(cuda::Result::NotInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME_VALUE(cuda::Result::StubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME_VALUE(cuda::Result::NoDevice, CUDA_ERROR_NO_DEVICE);
SAME_VALUE(cuda::Result::InvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME_VALUE(cuda::Result::InvalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME_VALUE(cuda::Result::InvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME_VALUE(cuda::Result::NoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME_VALUE(cuda::Result::InvalidPtx, CUDA_ERROR_INVALID_PTX);
SAME_VALUE(cuda::Result::JitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
SAME_VALUE(cuda::Result::UnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME_VALUE(cuda::Result::InvalidHandle, CUDA_ERROR_INVALID_HANDLE);
SAME_VALUE(cuda::Result::NotFound, CUDA_ERROR_NOT_FOUND);
SAME_VALUE(cuda::Result::NotReady, CUDA_ERROR_NOT_READY);
SAME_VALUE(cuda::Result::IllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME_VALUE(cuda::Result::LaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME_VALUE(cuda::Result::ContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME_VALUE(cuda::Result::MisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME_VALUE(cuda::Result::LaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME_VALUE(cuda::Result::CooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME_VALUE(cuda::Result::NotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME_VALUE(cuda::Result::SystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME_VALUE(cuda::Result::InvalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE);
SAME_VALUE(cuda::Result::Unknown, CUDA_ERROR_UNKNOWN);

SAME_VALUE(cuda::DeviceAttribute::MaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(cuda::DeviceAttribute::MaxGridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME_VALUE(cuda::DeviceAttribute::MaxGridDimY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME_VALUE(cuda::DeviceAttribute::MaxGridDimZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME_VALUE(cuda::DeviceAttribute::MaxSharedMemoryPerBlock,
           CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME_VALUE(cuda::DeviceAttribute::WarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME_VALUE(cuda::DeviceAttribute::MaxRegistersPerBlock,
           CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME_VALUE(cuda::DeviceAttribute::ClockRateKHz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME_VALUE(cuda::DeviceAttribute::MultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(cuda::DeviceAttribute::MemoryClockRateKHz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME_VALUE(cuda::DeviceAttribute::MemoryBusWidthBits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME_VALUE(cuda::DeviceAttribute::L2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_VALUE(cuda::DeviceAttribute::ComputeCapabilityMajor,
           CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(cuda::DeviceAttribute::ComputeCapabilityMinor,
           CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(cuda::DeviceAttribute::MaxSharedMemoryPerMultiprocessor,
           CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME_VALUE(cuda::DeviceAttribute::CooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME_VALUE(cuda::DeviceAttribute::MaxSharedMemoryPerBlockOptin,
           CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(cuda::DeviceAttribute::MemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME_VALUE(cuda::DeviceAttribute::ClusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);

SAME_VALUE(cuda::FunctionAttribute::MaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(cuda::FunctionAttribute::SharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(cuda::FunctionAttribute::LocalSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(cuda::FunctionAttribute::NumRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(cuda::FunctionAttribute::MaxDynamicSharedSizeBytes,
           CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(cuda::FunctionAttribute::NonPortableClusterSizeAllowed,
           CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);

SAME_VALUE(cuda::JitOption::MaxRegisters, CU_JIT_MAX_REGISTERS);
SAME_VALUE(cuda::JitOption::WallTime, CU_JIT_WALL_TIME);
SAME_VALUE(cuda::JitOption::InfoLogBuffer, CU_JIT_INFO_LOG_BUFFER);
SAME_VALUE(cuda::JitOption::InfoLogBufferSizeBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(cuda::JitOption::ErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(cuda::JitOption::ErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(cuda::JitOption::OptimizationLevel, CU_JIT_OPTIMIZATION_LEVEL);
SAME_VALUE(cuda::JitOption::TargetFromContext, CU_JIT_TARGET_FROM_CUCONTEXT);
SAME_VALUE(cuda::JitOption::LogVerbose, CU_JIT_LOG_VERBOSE);
SAME_VALUE(cuda::JitOption::GenerateLineInfo, CU_JIT_GENERATE_LINE_INFO);
SAME_VALUE(cuda::JitInputType::Cubin, CU_JIT_INPUT_CUBIN);
SAME_VALUE(cuda::JitInputType::Ptx, CU_JIT_INPUT_PTX);

SAME_VALUE(cuda::LaunchAttributeId::Ignore, CU_LAUNCH_ATTRIBUTE_IGNORE);
SAME_VALUE(cuda::LaunchAttributeId::Cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME_VALUE(cuda::LaunchAttributeId::ClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_VALUE(cuda::LaunchAttributeId::ProgrammaticStreamSerialization,
           CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);

SAME_VALUE(cuda::StreamDefault, CU_STREAM_DEFAULT);
SAME_VALUE(cuda::StreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME_VALUE(cuda::EventDefault, CU_EVENT_DEFAULT);
SAME_VALUE(cuda::EventBlockingSync, CU_EVENT_BLOCKING_SYNC);
SAME_VALUE(cuda::EventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME_VALUE(cuda::CaptureMode::Global, CU_STREAM_CAPTURE_MODE_GLOBAL);
SAME_VALUE(cuda::CaptureMode::ThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME_VALUE(cuda::CaptureMode::Relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME_VALUE(cuda::CaptureStatus::None, CU_STREAM_CAPTURE_STATUS_NONE);
SAME_VALUE(cuda::CaptureStatus::Active, CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME_VALUE(cuda::CaptureStatus::Invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);

// NOLINTBEGIN(bugprone-sizeof-expression): members that are pointers are meant
#define SAME_OFFSET(ours, ourMember, theirs, theirMember)                                          \
  static_assert(offsetof(ours, ourMember) == offsetof(theirs, theirMember) &&                      \
                    sizeof(ours::ourMember) == sizeof(theirs::theirMember),                        \
                #ours "::" #ourMember " lies elsewhere in cuda.h")

static_assert(sizeof(cuda::LaunchConfig) == sizeof(CUlaunchConfig));
SAME_OFFSET(cuda::LaunchConfig, gridDimX, CUlaunchConfig, gridDimX);
SAME_OFFSET(cuda::LaunchConfig, gridDimY, CUlaunchConfig, gridDimY);
SAME_OFFSET(cuda::LaunchConfig, gridDimZ, CUlaunchConfig, gridDimZ);
SAME_OFFSET(cuda::LaunchConfig, blockDimX, CUlaunchConfig, blockDimX);
SAME_OFFSET(cuda::LaunchConfig, blockDimY, CUlaunchConfig, blockDimY);
SAME_OFFSET(cuda::LaunchConfig, blockDimZ, CUlaunchConfig, blockDimZ);
SAME_OFFSET(cuda::LaunchConfig, sharedMemBytes, CUlaunchConfig, sharedMemBytes);
SAME_OFFSET(cuda::LaunchConfig, stream, CUlaunchConfig, hStream);
SAME_OFFSET(cuda::LaunchConfig, attrs, CUlaunchConfig, attrs);
SAME_OFFSET(cuda::LaunchConfig, numAttrs, CUlaunchConfig, numAttrs);

// NOLINTEND(bugprone-sizeof-expression)

static_assert(sizeof(cuda::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(sizeof(cuda::LaunchAttributeValue) == sizeof(CUlaunchAttributeValue));
SAME_OFFSET(cuda::LaunchAttribute, id, CUlaunchAttribute, id);
SAME_OFFSET(cuda::LaunchAttribute, value, CUlaunchAttribute, value);
SAME_OFFSET(cuda::LaunchAttributeValue, cooperative, CUlaunchAttributeValue, cooperative);
SAME_OFFSET(cuda::LaunchAttributeValue, clusterDim, CUlaunchAttributeValue, clusterDim);
SAME_OFFSET(cuda::LaunchAttributeValue, clusterDim.x, CUlaunchAttributeValue, clusterDim.x);
SAME_OFFSET(cuda::LaunchAttributeValue, clusterDim.y, CUlaunchAttributeValue, clusterDim.y);
SAME_OFFSET(cuda::LaunchAttributeValue, clusterDim.z, CUlaunchAttributeValue, clusterDim.z);
SAME_OFFSET(cuda::LaunchAttributeValue, programmaticStreamSerializationAllowed,
            CUlaunchAttributeValue, programmaticStreamSerializationAllowed);

// The checker must be able to say no.
static_assert(!SameCall<cuda::Result(int), CUresult(int, int)>::value);
static_assert(!SameCall<cuda::Result(size_t), CUresult(int)>::value);
static_assert(!SameCall<cuda::Result(cuda::Stream), CUresult(CUevent)>::value);
static_assert(!SameCall<cuda::Result(int *), CUresult(size_t *)>::value);

TEST(CudaHeader, DeclarationsMatch) {
  // All of it is checked by the compiler; this records against what.
  RecordProperty("CUDA_VERSION", CUDA_VERSION);
  SUCCEED() << "checked against CUDA_VERSION " << CUDA_VERSION;
}
} // namespace
