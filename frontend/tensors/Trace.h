//===- Trace.h - a function of whole tensors becomes a graph --------------===//
//
// The function's body is run by the evaluator, like a host function, with tensors that
// note what is done with them. Control flow over constants, helper functions and calls of
// other tensor functions are therefore Python's own, and every operation knows the line
// that it came from.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TENSORS_TRACE_H
#define TILE_FRONTEND_TENSORS_TRACE_H

#include "frontend/tensors/HandKernel.h"
#include "frontend/tensors/Signature.h"
#include "ir/graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tile::tensors {

/// Loads the dialects that `trace` builds.
void registerDialects(mlir::MLIRContext &context);

/// The type that elements have in a file.
eval::DType dtypeOf(mlir::Type element);

/// A module with one `func.func`, named after the function: tensors and numbers are its
/// parameters, in order, and what it returns its results. Of the arguments only types and
/// constants count. Null, and `error`, if the function cannot be traced. `launches` gets what
/// operations refer to by their handles.
mlir::OwningOpRef<mlir::ModuleOp> trace(mlir::MLIRContext &context, eval::Evaluator &evaluator,
                                        const eval::PyValue &function, const Signature &signature,
                                        llvm::ArrayRef<Argument> arguments,
                                        std::vector<HandKernel> &launches,
                                        std::unique_ptr<eval::EvalError> &error);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_TRACE_H
