//===- CudaApi.h - the CUDA driver, opened at run time --------------------===//
//
// The one idea: nothing in this project links against CUDA. `CudaApi::open`
// finds libcuda.so.1, checks its version, and fills one table of function
// pointers from CudaSymbols.def; everything else calls through that table, so
// the same binary compiles, interprets and tests on a machine with no GPU.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_CUDAAPI_H
#define TILE_RUNTIME_CUDAAPI_H

#include "runtime/CudaTypes.h"
#include "runtime/Error.h"
#include <memory>

namespace tile::cuda {

/// The function pointers, one a symbol.
struct CudaFunctions {
#define TILE_CUDA_SYMBOL(name, symbol, parameters) Result(*name) parameters = nullptr;
#include "runtime/CudaSymbols.def"
};

/// The oldest driver accepted, as `cuDriverGetVersion` counts: CUDA 12.0, the
/// first with launch attributes (clusters) and with PTX for sm_90.
inline constexpr int minimumDriverVersion = 12000;

/// "12.4" for 12040.
std::string formatVersion(int version);

class CudaApi : public CudaFunctions {
public:
  /// Opens and initialises the driver. `path` is for tests; the default is
  /// what the driver package installs.
  static llvm::Expected<std::unique_ptr<CudaApi>> open(const char *path = "libcuda.so.1");

  /// The process's driver, opened on first use and never closed (its threads
  /// and atexit handlers outlive us). A failure is remembered and returned
  /// again. Any thread.
  static llvm::Expected<const CudaApi &> get();

  /// Success for Success; else an error that names `call` (the source text of
  /// the call; cut at its parenthesis) and the driver's own description.
  llvm::Error check(Result result, llvm::StringRef call) const;

  /// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)".
  std::string describe(Result result) const;

  int version() const { return driverVersion; }

private:
  int driverVersion = 0;
};

/// Returns the error of a failed driver call from the enclosing function:
/// `TILE_CUDA_TRY(api, cuMemFree(pointer));`
#define TILE_CUDA_TRY(api, call)                                                                   \
  do {                                                                                             \
    if (::tile::cuda::Result tileResult = (api).call; tileResult != ::tile::cuda::Result::Success) \
      return (api).check(tileResult, #call);                                                       \
  } while (false)

} // namespace tile::cuda

#endif // TILE_RUNTIME_CUDAAPI_H
