//===- KernelArguments.h - a kernel's parameters, as its function has them ===//
#ifndef TILE_FRONTEND_SPECIALIZE_KERNELARGUMENTS_H
#define TILE_FRONTEND_SPECIALIZE_KERNELARGUMENTS_H

#include "frontend/specialize/Parameters.h"
#include "frontend/specialize/Specializer.h"

namespace tile::specialize {

/// The block arguments for all parameters, with what is promised of them, and the values that the
/// walk begins with; false after reporting errors.
bool buildArguments(Specializer &s, const eval::FunctionObject &kernel, Parameters &parameters,
                    mlir::Block &entry, llvm::SmallVectorImpl<mlir::DictionaryAttr> &attributes,
                    std::vector<PyValue> &values);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_KERNELARGUMENTS_H
