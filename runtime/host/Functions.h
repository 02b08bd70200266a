//===- Functions.h - the functions of `tile.*` on tensors -----------------===//
//
// Each is a function of evaluated arguments, found by name in a table; a method
// `x.f(...)` is the function `tile.f(x, ...)`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_FUNCTIONS_H
#define TILE_RUNTIME_HOST_FUNCTIONS_H

#include "frontend/eval/Methods.h"
#include "runtime/host/Tensor.h"

namespace tile::host {

using TensorFunction = Result (*)(const ContextPtr &context, const CallArgs &args);

/// The arguments of a function whose first is a tensor, a number or a list of numbers.
class ArrayReader : public eval::ArgReader {
public:
  ArrayReader(llvm::StringRef function, const CallArgs &args, llvm::ArrayRef<llvm::StringRef> names,
              size_t required)
      : ArgReader(function, args, names, required) {
    if (!failure)
      failure = toArray((*this)[0], first);
  }
  Array &array() { return first; }

private:
  Array first;
};

/// The arguments of a function whose first two are such.
class PairReader : public ArrayReader {
public:
  PairReader(llvm::StringRef function, const CallArgs &args, llvm::ArrayRef<llvm::StringRef> names)
      : ArrayReader(function, args, names, 2) {
    if (!failure)
      failure = toArray((*this)[1], second);
  }
  Array &other() { return second; }

private:
  Array second;
};

struct FunctionEntry {
  llvm::StringRef name;
  TensorFunction fn;
  bool isMethod; ///< also `x.name(...)`
};

// The tables, one a file.
llvm::ArrayRef<FunctionEntry> creationFunctions();
llvm::ArrayRef<FunctionEntry> randomFunctions();
llvm::ArrayRef<FunctionEntry> elementwiseFunctions();
llvm::ArrayRef<FunctionEntry> reductionFunctions();
llvm::ArrayRef<FunctionEntry> rearrangingFunctions();
llvm::ArrayRef<FunctionEntry> factFunctions();
llvm::ArrayRef<FunctionEntry> viewFunctions();
/// Its layer_norm and rms_norm are what those of referenceFunctions() fall back to.
llvm::ArrayRef<FunctionEntry> composedFunctions();
llvm::ArrayRef<FunctionEntry> convolutionFunctions();
llvm::ArrayRef<FunctionEntry> referenceFunctions();
/// frontend/eval/Formulas.h
llvm::ArrayRef<FunctionEntry> formulaFunctions();

/// The tensor a method is called on; null if it is called on something else.
Tensor *self(const CallArgs &args);
std::unique_ptr<eval::EvalError> needTensor(llvm::StringRef name);

const FunctionEntry *findFunction(llvm::StringRef name);
Result callFunction(const FunctionEntry &entry, const ContextPtr &context, const CallArgs &args);
/// The same by its name, where that stands in the source.
Result callWritten(llvm::StringRef name, const ContextPtr &context, const CallArgs &args,
                   bool isMethod = false);
/// Gives arguments our names where they have others: `dim=`, `keepdims=`, shapes one by one.
std::unique_ptr<eval::EvalError> useOwnNames(const FunctionEntry &entry, CallArgs &args);
/// Names for suggestions.
std::vector<llvm::StringRef> functionNames(bool methodsOnly);

/// Elementwise operators on arrays, broadcasting.
Result arrayBinary(const ContextPtr &context, ast::BinaryOp op, Array lhs, Array rhs);
Result arrayCompare(const ContextPtr &context, ast::CompareOp op, Array lhs, Array rhs);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_FUNCTIONS_H
