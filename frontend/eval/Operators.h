//===- Operators.h - Python's operators on compile-time values ------------===//
//
// Each operator as one function on values, with Python's semantics: exact
// integers, floor division, chained-free comparison. The evaluator calls them,
// and so does the specialiser where both operands are compile-time values.
// A Result that failed holds a sentence; whoever knows the source adds the
// place with `at`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_OPERATORS_H
#define TILE_FRONTEND_EVAL_OPERATORS_H

#include "frontend/eval/Value.h"

namespace tile::eval {

using frontend::Diagnostic;
using frontend::SourceFile;
using frontend::SourceRange;

/// A failed evaluation: a diagnostic (`file` is null until someone who knows
/// the place adds it) and the name of the Python exception it stands for.
struct EvalError {
  Diagnostic diagnostic;
  std::string type = "TypeError";
};

/// A value, or the reason why there is none.
class [[nodiscard]] Result {
public:
  Result(PyValue value) : result(std::move(value)) {}
  Result(std::unique_ptr<EvalError> error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }
  const PyValue &operator*() const { return result; }
  PyValue &operator*() { return result; }
  const PyValue *operator->() const { return &result; }
  PyValue take() { return std::move(result); }
  const EvalError &error() const { return *failure; }
  std::unique_ptr<EvalError> takeError() { return std::move(failure); }

  /// Adds the place to an error that has none yet.
  Result at(const SourceFile &file, SourceRange range) &&;

private:
  PyValue result;
  std::unique_ptr<EvalError> failure;
};

/// An error with no place yet. `type` is a Python exception's name.
std::unique_ptr<EvalError> fail(std::string message, std::string type = "TypeError");
/// An error about something well-formed that is not supported.
std::unique_ptr<EvalError> unsupported(std::string message);
/// Reports an error to the engine.
void report(const EvalError &error, frontend::DiagnosticEngine &diagnostics);

Result unary(ast::UnaryOp op, const PyValue &operand);
Result binary(ast::BinaryOp op, const PyValue &lhs, const PyValue &rhs);
/// One comparison, `is` and `in` included. The result is a bool unless an
/// extension says otherwise.
Result compare(ast::CompareOp op, const PyValue &lhs, const PyValue &rhs);
/// bool(value), as a Bool.
Result truth(const PyValue &value);
/// value[index]; `index` may be a Slice or a tuple. `evaluator` is for
/// extensions only.
Result subscript(const PyValue &value, const PyValue &index, Evaluator *evaluator = nullptr);
/// value.name. Members of modules are resolved; methods come back as Method.
/// `.value` of a plain constant is the constant (Triton's `constexpr.value`).
Result attribute(const PyValue &value, llvm::StringRef name);
Result length(const PyValue &value);
/// The elements that `for x in value` would visit. Fails above a size limit.
Result iterate(const PyValue &value, std::vector<PyValue> &elements);
/// format(value, spec), the `{value:spec}` of an f-string.
Result format(const PyValue &value, llvm::StringRef spec);

/// `tl.constexpr_type(value)`, the `.type` of a constant: equal where the constants are.
PyValue constexprType(const PyValue &value);
constexpr llvm::StringLiteral kConstexprType = "constexpr_type";

/// Integers wider than this are an error.
constexpr unsigned maxIntegerBits = 8192;

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_OPERATORS_H
