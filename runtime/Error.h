//===- Error.h - what can go wrong at run time ----------------------------===//
//
// Every failure of the runtime is an `llvm::Error` holding a RuntimeError: a
// code that a program can switch on (the C API's status) and a message that a
// person can act on.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_ERROR_H
#define TILE_RUNTIME_ERROR_H

#include "runtime/CudaTypes.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tile::runtime {

/// The same numbers as `tile_status` in tile.h (CApi.cpp asserts it).
enum class ErrorCode : int {
  InvalidArgument = 1, ///< the caller passed something that cannot be meant
  Compile = 2,         ///< the kernel has errors; the message is the diagnostics
  Unsupported = 3,     ///< well-formed, but not supported (yet, or on this device)
  Io = 4,              ///< a file could not be read or written
  NoDriver = 5,        ///< libcuda.so.1 is missing, unusable, or finds no GPU
  DriverTooOld = 6,    ///< the driver, or one of its functions, predates CUDA 12.0
  OutOfMemory = 7,     ///< device memory
  PtxRejected = 8,     ///< the driver would not compile or load the code
  Resources = 9,       ///< the kernel asks for more than the device has
  Driver = 10,         ///< any other error that the driver returned
  KernelFault = 11,    ///< the emulator found a fault in the kernel
  NoCompile = 12,      ///< a compilation would be needed, and none is allowed
};

class RuntimeError : public llvm::ErrorInfo<RuntimeError> {
public:
  static char ID;
  RuntimeError(ErrorCode code, std::string message, cuda::Result result = cuda::Result::Success)
      : errorCode(code), text(std::move(message)), driverResult(result) {}
  ErrorCode code() const { return errorCode; }
  std::string message() const override { return text; }
  /// What the driver returned; Success if it was not asked.
  cuda::Result result() const { return driverResult; }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  ErrorCode errorCode;
  std::string text;
  cuda::Result driverResult;
};

llvm::Error makeError(ErrorCode code, const llvm::Twine &message,
                      cuda::Result result = cuda::Result::Success);

/// Takes an error apart: its code (Driver for a foreign error), its message.
struct ErrorParts {
  ErrorCode code = ErrorCode::Driver;
  cuda::Result result = cuda::Result::Success;
  std::string message;
};
ErrorParts takeError(llvm::Error error);

/// Puts `context` and ": " before the message of `error`, keeping its code.
llvm::Error addContext(llvm::Error error, const llvm::Twine &context);

} // namespace tile::runtime

#endif // TILE_RUNTIME_ERROR_H
