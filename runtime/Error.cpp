//===- Error.cpp ----------------------------------------------------------===//
#include "runtime/Error.h"
#include "text/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::runtime;
using tile::formatted;

char RuntimeError::ID = 0;

void RuntimeError::log(llvm::raw_ostream &os) const { os << text; }

std::error_code RuntimeError::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

llvm::Error tile::runtime::makeError(ErrorCode code, const llvm::Twine &message,
                                     cuda::Result result) {
  return llvm::make_error<RuntimeError>(code, message.str(), result);
}

ErrorParts tile::runtime::takeError(llvm::Error error) {
  ErrorParts parts;
  llvm::handleAllErrors(
      std::move(error),
      [&](const RuntimeError &runtimeError) {
        parts = {runtimeError.code(), runtimeError.result(), runtimeError.message()};
      },
      [&](const llvm::ErrorInfoBase &other) { parts.message = other.message(); });
  return parts;
}

llvm::Error tile::runtime::addContext(llvm::Error error, const llvm::Twine &context) {
  if (!error)
    return error;
  ErrorParts parts = takeError(std::move(error));
  return makeError(parts.code, formatted("{}: {}", context, parts.message), parts.result);
}
