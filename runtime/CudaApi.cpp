//===- CudaApi.cpp --------------------------------------------------------===//
#include "runtime/CudaApi.h"
#include "text/Format.h"
#include <dlfcn.h>

using namespace tile;
using namespace tile::cuda;
using runtime::ErrorCode;
using runtime::makeError;

std::string cuda::formatVersion(int version) {
  return formatted("{}.{}", version / 1000, version % 1000 / 10);
}

namespace {
/// Closes the library unless it is kept: an opened driver stays.
struct LibraryCloser {
  void operator()(void *handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, LibraryCloser>;

template <typename FunctionPointer>
bool lookUp(void *library, const char *symbol, FunctionPointer &function) {
  function = reinterpret_cast<FunctionPointer>(dlsym(library, symbol));
  return function != nullptr;
}

const char *const noDriverAdvice = "; running on a GPU needs NVIDIA's driver, while compiling and "
                                   "running on the CPU work without it";
} // namespace

/// Fills `functions`; returns the first symbol that `library` lacks.
static const char *loadSymbols(void *library, CudaFunctions &functions) {
#define TILE_CUDA_SYMBOL(name, symbol, parameters)                                                 \
  if (!lookUp(library, #symbol, functions.name))                                                   \
    return #symbol;
#include "runtime/CudaSymbols.def"
  return nullptr;
}

static llvm::Error tooOld(int version) {
  return makeError(ErrorCode::DriverTooOld,
                   formatted("the CUDA driver supports CUDA {}, and at least CUDA {} is needed: "
                             "install NVIDIA driver 525.60 or newer",
                             formatVersion(version), formatVersion(minimumDriverVersion)));
}

/// What a failed cuInit means to the user.
static llvm::Error initError(const CudaApi &api, Result result, const char *path) {
  std::string text = api.describe(result);
  switch (result) {
  case Result::NoDevice:
    return makeError(ErrorCode::NoDriver, formatted("the CUDA driver finds no GPU: {}", text),
                     result);
  case Result::StubLibrary:
    return makeError(ErrorCode::NoDriver,
                     formatted("`{}` is the toolkit's stub library, not the driver: take its "
                               "folder out of LD_LIBRARY_PATH",
                               path),
                     result);
  case Result::SystemDriverMismatch:
    return makeError(ErrorCode::NoDriver,
                     formatted("the CUDA driver library and the kernel module are of different "
                               "versions: reboot or reload the module ({})",
                               text),
                     result);
  default:
    return makeError(ErrorCode::NoDriver, formatted("the CUDA driver does not start: {}", text),
                     result);
  }
}

llvm::Expected<std::unique_ptr<CudaApi>> CudaApi::open(const char *path) {
  Library library(dlopen(path, RTLD_NOW | RTLD_LOCAL));
  if (!library) {
    const char *reason = dlerror();
    return makeError(ErrorCode::NoDriver,
                     formatted("no CUDA driver: cannot open `{}` ({}){}", path,
                               reason ? reason : "unknown reason", noDriverAdvice));
  }

  // The version comes first: it explains a missing symbol better than its name.
  auto api = std::make_unique<CudaApi>();
  if (!lookUp(library.get(), "cuDriverGetVersion", api->cuDriverGetVersion))
    return makeError(ErrorCode::NoDriver,
                     formatted("`{}` is not a CUDA driver: it lacks `cuDriverGetVersion`{}", path,
                               noDriverAdvice));
  if (Result result = api->cuDriverGetVersion(&api->driverVersion); result != Result::Success)
    return makeError(
        ErrorCode::NoDriver,
        formatted("the CUDA driver does not tell its version (error {})", static_cast<int>(result)),
        result);
  if (api->driverVersion < minimumDriverVersion)
    return tooOld(api->driverVersion);

  if (const char *missing = loadSymbols(library.get(), *api))
    return makeError(ErrorCode::DriverTooOld,
                     formatted("the CUDA driver `{}` lacks the function `{}` although it says that "
                               "it supports CUDA {}; reinstall the driver",
                               path, missing, formatVersion(api->driverVersion)));
  if (Result result = api->cuInit(0); result != Result::Success)
    return initError(*api, result, path);
  library.release();
  return api;
}

llvm::Expected<const CudaApi &> CudaApi::get() {
  struct Process {
    std::unique_ptr<CudaApi> api;
    runtime::ErrorParts error;
    Process() {
      if (auto opened = CudaApi::open())
        api = std::move(*opened);
      else
        error = runtime::takeError(opened.takeError());
    }
  };
  // Never destroyed: other threads may still be launching at exit.
  static const Process &process = *new Process;
  if (!process.api)
    return makeError(process.error.code, process.error.message, process.error.result);
  return *process.api;
}

std::string CudaApi::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != Result::Success || !name)
    return formatted("unknown error {}", static_cast<int>(result));
  if (cuGetErrorString(result, &text) != Result::Success || !text)
    return name;
  return formatted("{} ({})", text, name);
}

static ErrorCode codeFor(Result result) {
  switch (result) {
  case Result::OutOfMemory:
    return ErrorCode::OutOfMemory;
  case Result::InvalidImage:
  case Result::NoBinaryForGpu:
  case Result::InvalidPtx:
  case Result::JitCompilerNotFound:
  case Result::UnsupportedPtxVersion:
    return ErrorCode::PtxRejected;
  case Result::LaunchOutOfResources:
  case Result::CooperativeLaunchTooLarge:
  case Result::InvalidClusterSize:
    return ErrorCode::Resources;
  default:
    return ErrorCode::Driver;
  }
}

llvm::Error CudaApi::check(Result result, llvm::StringRef call) const {
  if (result == Result::Success)
    return llvm::Error::success();
  return makeError(
      codeFor(result),
      formatted("{}: {}", call.take_until([](char c) { return c == '('; }), describe(result)),
      result);
}
