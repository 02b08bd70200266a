//===- FormulaCompiler.h - functions of a file that run at every launch ---===//
//
// Compiles a function that computes something of a launch's arguments (a grid, a
// heuristic) from Python to the steps of runtime/dispatch/Formula.h. What does not depend
// on arguments is evaluated now; the rest are integers and truth values. What this
// language is too small for is an error at its place.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_JIT_FORMULACOMPILER_H
#define TILE_RUNTIME_JIT_FORMULACOMPILER_H

#include "frontend/eval/Evaluator.h"
#include "runtime/dispatch/Formula.h"

namespace tile::jit {

struct Formula {
  std::vector<dispatch::Step> steps;
  unsigned results = 0;
  bool isTruth = false; ///< of one result
};

/// What a formula knows by name.
struct FormulaNames {
  llvm::StringMap<unsigned> arguments;      ///< of a launch, by their places
  llvm::StringMap<eval::PyValue> constants; ///< values that are fixed
  llvm::StringMap<std::string> others;      ///< fixed, too, and nothing to compute with
};

/// `function` takes a dict of the arguments; `text` is where a lambda stands that is not
/// in its module's file, else null. Null after success.
std::unique_ptr<eval::EvalError> compileFormula(eval::Evaluator &evaluator,
                                                const eval::FunctionObject &function,
                                                const frontend::SourceFile *text,
                                                const FormulaNames &names, Formula &out);

} // namespace tile::jit

#endif // TILE_RUNTIME_JIT_FORMULACOMPILER_H
