//===- Context.h - devices and contexts -----------------------------------===//
//
// The one idea: the caller's context is respected. Work goes to the context
// that is current, or was named; only where there is none do we retain the
// device's primary context, the one the CUDA runtime also uses. A context is
// made current only for the duration of a call (ScopedContext).
//
//   class          CUDA object
//   DeviceInfo     CUdevice (a copy of its properties)
//   Context        CUcontext, retained if primary, else borrowed
//   ScopedContext  one entry of the thread's context stack
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_CONTEXT_H
#define TILE_RUNTIME_CONTEXT_H

#include "runtime/CudaApi.h"
#include <optional>

namespace tile::runtime {

/// What is asked of a device once.
struct DeviceInfo {
  int ordinal = 0; ///< as in CUDA_VISIBLE_DEVICES order; also the CUdevice
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  uint64_t memoryBytes = 0; ///< all of it
  int multiprocessors = 0;
  int maxThreadsPerBlock = 0;
  int sharedBytesPerBlock = 0;      ///< without opt-in
  int sharedBytesPerBlockOptin = 0; ///< the most a block can have
  int sharedBytesPerMultiprocessor = 0;
  int registersPerBlock = 0;
  int l2Bytes = 0;
  int maxGrid[3] = {0, 0, 0};
  bool clusterLaunch = false;
  bool cooperativeLaunch = false;
  bool memoryPools = false;

  static llvm::Expected<DeviceInfo> query(const cuda::CudaApi &api, int ordinal);

  /// The target to compile for: "sm_90a" (with the features of exactly this
  /// chip, from 9.0 on), "sm_89".
  std::string target() const;
};

llvm::Expected<int> deviceCount(const cuda::CudaApi &api);

class Context {
public:
  /// The calling thread's current context; null if it has none.
  static llvm::Expected<std::shared_ptr<Context>> current(const cuda::CudaApi &api);
  /// A context of the caller's, which must outlive everything made on it.
  static llvm::Expected<std::shared_ptr<Context>> borrow(const cuda::CudaApi &api,
                                                         cuda::Context handle);
  /// The primary context of a device, retained until the last user lets go.
  static llvm::Expected<std::shared_ptr<Context>> primary(const cuda::CudaApi &api, int ordinal);
  /// The current context, else the primary one of device `ordinal`.
  static llvm::Expected<std::shared_ptr<Context>> currentOrPrimary(const cuda::CudaApi &api,
                                                                   int ordinal = 0);
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  const cuda::CudaApi &api() const { return driver; }
  cuda::Context handle() const { return context; }
  const DeviceInfo &device() const { return info; }
  /// Never used again in this process, unlike the handle's address.
  uint64_t id() const { return uniqueId; }

private:
  Context(const cuda::CudaApi &api, cuda::Context handle, bool retained)
      : driver(api), context(handle), retained(retained) {}
  llvm::Error initialize();

  const cuda::CudaApi &driver;
  cuda::Context context;
  bool retained;
  uint64_t uniqueId = 0;
  DeviceInfo info;
};

/// Makes a context current while it lives, if it is not already.
class ScopedContext {
public:
  ScopedContext(const cuda::CudaApi &api, cuda::Context context) : driver(api) {
    cuda::Context now = nullptr;
    outcome = api.cuCtxGetCurrent(&now);
    if (outcome != cuda::Result::Success || now == context)
      return;
    outcome = api.cuCtxPushCurrent(context);
    pushed = outcome == cuda::Result::Success;
  }
  ~ScopedContext() {
    cuda::Context ignored;
    if (pushed)
      (void)driver.cuCtxPopCurrent(&ignored);
  }
  ScopedContext(const ScopedContext &) = delete;
  ScopedContext &operator=(const ScopedContext &) = delete;
  cuda::Result result() const { return outcome; }

private:
  const cuda::CudaApi &driver;
  cuda::Result outcome;
  bool pushed = false;
};

/// Enters a context for the rest of the scope, or returns the error.
#define TILE_ENTER_CONTEXT(api, handle)                                                            \
  ::tile::runtime::ScopedContext tileScope((api), (handle));                                       \
  if (tileScope.result() != ::tile::cuda::Result::Success)                                         \
  return (api).check(tileScope.result(), "cuCtxPushCurrent")

} // namespace tile::runtime

#endif // TILE_RUNTIME_CONTEXT_H
