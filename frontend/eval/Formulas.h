//===- Formulas.h - names for formulas of tensors -----------------------===//
//
// What PyTorch and NumPy have a name for and a line of other functions says: written once, for the
// host and for functions of whole tensors, which see the line as if it had been written out.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_FORMULAS_H
#define TILE_FRONTEND_EVAL_FORMULAS_H

#include "frontend/eval/Evaluator.h"
#include "frontend/eval/Operators.h"

namespace tile::eval {

/// The functions that formulas are made of, by their names in `tile`.
class FormulaCalls {
public:
  virtual ~FormulaCalls() = default;
  virtual Result call(llvm::StringRef name, const CallArgs &args) = 0;
  /// Whether what is called is computed at once, not only noted.
  virtual bool computes() const = 0;
  /// Whether slopes of it may be asked for.
  virtual bool differentiates() const { return false; }
};

/// The names of all formulas.
llvm::ArrayRef<llvm::StringRef> formulaNames();
/// What the formula of that name says of these arguments, whose keywords are ours.
Result callFormula(FormulaCalls &on, llvm::StringRef name, const CallArgs &args);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_FORMULAS_H
