//===- Annotations.h - what a kernel's parameters are said to be ----------===//
//
// For those who launch kernels with values: which parameters are compile-time ones,
// and what their annotations say of the values.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_ANNOTATIONS_H
#define TILE_FRONTEND_EVAL_ANNOTATIONS_H

#include "frontend/eval/Evaluator.h"

namespace tile::eval {

/// How a parameter is annotated.
struct ParameterKind {
  bool folds = false; ///< annotated with a hint (":1", ":16"): 1 is a constant
  bool isConstexpr = false;
  bool isPointer = false;
  bool isConst = false;        ///< `tl.const`: the pointee is only read
  std::optional<DType> scalar; ///< fixes the type of a number
};
ParameterKind annotationOf(Evaluator &evaluator, const FunctionObject &kernel, size_t index);

/// Steps that a value in a tuple counts for, by the memory that its text takes.
constexpr uint64_t kConstantSteps = 50;

/// The text of a compile-time value: JSON, `tl.float16`, `@function`; nothing
/// for a value that has none.
std::optional<std::string> constantText(const PyValue &value);

/// Reads every file that a file imports at its top level, and what those import, so that
/// `Program::dependencies` has them all; what cannot be read is noted there, too.
void readImports(ModuleEnv &module);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_ANNOTATIONS_H
