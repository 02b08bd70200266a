//===- Signature.h - the parameters of a function of whole tensors --------===//
//
// `x: tensor["M, 2*K", fp16]` is a tensor whose sizes have names, `scale: float` a number
// that is given at the call, and anything else a constant of the compilation.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TENSORS_SIGNATURE_H
#define TILE_FRONTEND_TENSORS_SIGNATURE_H

#include "frontend/eval/Evaluator.h"
#include "ir/graph/Size.h"

namespace tile::tensors {

struct Parameter {
  enum class Kind { Tensor, Number, Constant };
  Kind kind = Kind::Constant;
  std::string name;
  graph::Sizes sizes;                 ///< Tensor
  std::optional<eval::DType> element; ///< Tensor: nothing if any will do; Number
  frontend::SourceRange range;        ///< of the name
};

struct Signature {
  std::vector<Parameter> parameters;
};

/// Reads the annotations of a `@tile.function`.
std::unique_ptr<eval::EvalError>
readSignature(eval::Evaluator &evaluator, const eval::FunctionObject &function, Signature &out);

/// What a call gives one parameter.
struct Argument {
  eval::DType element;        ///< Tensor
  std::vector<int64_t> shape; ///< Tensor
  eval::PyValue constant;     ///< Constant
};

/// Numbers for the names of all sizes, from the shapes of the arguments. An error names
/// the two parameters that do not agree.
std::unique_ptr<eval::EvalError> bindSizes(const Signature &signature,
                                           llvm::ArrayRef<Argument> arguments,
                                           llvm::StringRef function, graph::Bindings &out);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_SIGNATURE_H
