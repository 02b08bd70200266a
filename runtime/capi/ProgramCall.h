//===- ProgramCall.h - the arguments of a call of a program, read -----------===//
#ifndef TILE_RUNTIME_CAPI_PROGRAMCALL_H
#define TILE_RUNTIME_CAPI_PROGRAMCALL_H

#include "runtime/capi/Program.h"

namespace tile::runtime::capi {

struct ProgramCall {
  TensorProgram *function = nullptr; ///< for arrays with gaps, if some have any
  TensorProgram *program = nullptr;  ///< what runs for its sizes
  CutProgram inCuts;                 ///< the same in chosen cuts; no program: the model's
  graph::Bindings given, sizes;      ///< of the arguments; and what the compiler chooses
  std::vector<const void *> values;  ///< by parameter; null for constants
};
/// Strides that say more than that there are no gaps.
std::vector<int64_t> stridesOf(const tile_tensor &tensor);
llvm::Error readCall(tile_program &program, const void *const *arguments, size_t numArguments,
                     ProgramCall &call);
/// Bytes of what lies between kernels; `offsets` gets where each is, by buffer.
llvm::Expected<int64_t> placeIntermediates(const TensorProgram &program,
                                           const graph::Bindings &sizes,
                                           std::vector<int64_t> &offsets);

} // namespace tile::runtime::capi

#endif // TILE_RUNTIME_CAPI_PROGRAMCALL_H
