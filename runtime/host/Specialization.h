//===- Specialization.h - from launch arguments to a signature ------------===//
//
// What Triton calls specialisation: the types of the arguments, the integers
// that are 1 or divisible by 16, the pointers that are aligned, and the values
// of the constexprs together decide which code a launch runs.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_SPECIALIZATION_H
#define TILE_RUNTIME_HOST_SPECIALIZATION_H

#include "frontend/eval/Annotations.h"
#include "runtime/host/Tensor.h"

namespace tile::host {

struct Specialization {
  std::string signature; ///< one entry for each parameter that is not a constexpr
  std::vector<std::pair<std::string, std::string>> constexprs;
  std::vector<runtime::LaunchArg> args;           ///< one an entry of the signature
  std::vector<std::shared_ptr<Storage>> storages; ///< of all tensors
  std::vector<Storage *> written;                 ///< those a kernel may write
};

/// `values` has one value a parameter. `plain` holds the names that are not
/// specialised on, `unaligned` those whose alignment is not.
std::unique_ptr<eval::EvalError>
specialize(Evaluator &evaluator, const eval::FunctionObject &kernel, llvm::ArrayRef<PyValue> values,
           llvm::ArrayRef<std::string> plain, llvm::ArrayRef<std::string> unaligned,
           Specialization &out);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_SPECIALIZATION_H
