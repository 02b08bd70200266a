//===- CudaTypes.h - the part of the driver's ABI that we use -------------===//
//
// Our own declarations of the CUDA driver's handles, enumerations and structs,
// so that building needs no toolkit. Only what is used is declared. Where
// `cuda.h` is installed, CudaHeaderTest compares every one of them with it.
// Handles are pointers to the same incomplete structs as in `cuda.h`, so a
// caller's handle passes through without a cast.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_CUDATYPES_H
#define TILE_RUNTIME_CUDATYPES_H

#include <cstddef>
#include <cstdint>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUlinkState_st;

namespace tile::cuda {

using Device = int;
using DevicePtr = unsigned long long;
using Context = ::CUctx_st *;
using Module = ::CUmod_st *;
using Function = ::CUfunc_st *;
using Stream = ::CUstream_st *;
using Event = ::CUevent_st *;
using Graph = ::CUgraph_st *;
using GraphExec = ::CUgraphExec_st *;
using LinkState = ::CUlinkState_st *;

/// The results that we treat specially; any other value is passed through and
/// named by the driver itself.
enum class Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  StubLibrary = 34,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  JitCompilerNotFound = 221,
  UnsupportedPtxVersion = 222,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  ContextIsDestroyed = 709,
  MisalignedAddress = 716,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
  NotSupported = 801,
  SystemDriverMismatch = 803,
  InvalidClusterSize = 912,
  Unknown = 999,
};

enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxGridDimX = 5,
  MaxGridDimY = 6,
  MaxGridDimZ = 7,
  MaxSharedMemoryPerBlock = 8,
  WarpSize = 10,
  MaxRegistersPerBlock = 12,
  ClockRateKHz = 13,
  MultiprocessorCount = 16,
  MemoryClockRateKHz = 36,
  MemoryBusWidthBits = 37,
  L2CacheSize = 38,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedMemoryPerMultiprocessor = 81,
  CooperativeLaunch = 95,
  MaxSharedMemoryPerBlockOptin = 97,
  MemoryPoolsSupported = 115,
  ClusterLaunch = 120,
};

enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedSizeBytes = 1,
  LocalSizeBytes = 3,
  NumRegisters = 4,
  MaxDynamicSharedSizeBytes = 8,
  NonPortableClusterSizeAllowed = 14,
};

enum class JitOption : int {
  MaxRegisters = 0,
  WallTime = 2,
  InfoLogBuffer = 3,
  InfoLogBufferSizeBytes = 4,
  ErrorLogBuffer = 5,
  ErrorLogBufferSizeBytes = 6,
  OptimizationLevel = 7,
  TargetFromContext = 8,
  LogVerbose = 12,
  GenerateLineInfo = 13,
};

enum class JitInputType : int { Cubin = 0, Ptx = 1 };

enum class LaunchAttributeId : int {
  Ignore = 0,
  Cooperative = 2,
  ClusterDimension = 4,
  ProgrammaticStreamSerialization = 6,
};

union LaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
};

struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  LaunchAttributeValue value;
};

struct LaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  Stream stream;
  LaunchAttribute *attrs;
  unsigned numAttrs;
};

/// A TMA descriptor, opaque.
struct alignas(64) TensorMap {
  uint64_t words[16];
};
enum class TensorMapDataType : int {
  UInt8 = 0,
  UInt16 = 1,
  UInt32 = 2,
  Int32 = 3,
  UInt64 = 4,
  Int64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  BFloat16 = 9,
};
enum class TensorMapInterleave : int { None = 0 };
enum class TensorMapSwizzle : int { None = 0, Span32B = 1, Span64B = 2, Span128B = 3 };
enum class TensorMapL2Promotion : int { None = 0, L2_64B = 1, L2_128B = 2, L2_256B = 3 };
enum class TensorMapFloatOobFill : int { None = 0 };

enum StreamFlags : unsigned { StreamDefault = 0, StreamNonBlocking = 1 };
enum EventFlags : unsigned { EventDefault = 0, EventBlockingSync = 1, EventDisableTiming = 2 };
enum class CaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };
enum class CaptureStatus : int { None = 0, Active = 1, Invalidated = 2 };

} // namespace tile::cuda

#endif // TILE_RUNTIME_CUDATYPES_H
