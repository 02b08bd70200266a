//===- FormulaImpl.h - how formulas are compiled ---------------------------===//
#ifndef TILE_RUNTIME_JIT_FORMULAIMPL_H
#define TILE_RUNTIME_JIT_FORMULAIMPL_H

#include "runtime/jit/FormulaCompiler.h"
#include "text/Format.h"
#include <map>

namespace tile::jit::formula {

using dispatch::Step;
using eval::EvalError;
using eval::PyValue;
using eval::Result;
using Kind = PyValue::Kind;
using ErrorPtr = std::unique_ptr<EvalError>;

/// What an expression came to: a value that is known, an argument, the dict of all of
/// them, or steps that push a number.
struct Piece {
  enum class Form { Known, Argument, Arguments, Steps } form = Form::Known;
  PyValue known;
  unsigned argument = 0;
  std::vector<Step> steps;
  unsigned depth = 1; ///< of the stack while they run
  bool isTruth = false;
};

/// Longer than anything that is meant; names that are used twice are computed twice.
constexpr size_t kMostSteps = 2048;
constexpr unsigned kDeepest = 64;

using Variables = std::map<std::string, Piece>;

class FormulaCompiler {
public:
  FormulaCompiler(eval::Evaluator &evaluator, const FormulaNames &names)
      : evaluator(evaluator), names(names) {}

  ErrorPtr function(const eval::FunctionObject &function, const frontend::SourceFile &source,
                    std::vector<Piece> given, std::vector<Piece> &results);
  /// Makes it push a number.
  ErrorPtr materialise(Piece &piece);

private:
  ErrorPtr body(const ast::Body &statements, size_t at, Variables variables,
                std::vector<Piece> &results);
  ErrorPtr branch(const ast::If &statement, const ast::Body &rest, size_t at,
                  const Variables &variables, std::vector<Piece> &results);
  ErrorPtr results(const ast::Expr &expr, const Variables &variables, std::vector<Piece> &out);
  /// With its place added to errors.
  ErrorPtr expression(const ast::Expr &expr, const Variables &variables, Piece &out);
  ErrorPtr dispatchOn(const ast::Expr &expr, const Variables &variables, Piece &out);
  ErrorPtr name(const ast::Name &name, const Variables &variables, Piece &out);
  ErrorPtr conditional(const ast::Conditional &node, const Variables &variables, Piece &out);
  ErrorPtr decided(const ast::BoolOp &node, const Variables &variables, Piece &out);
  ErrorPtr binary(const ast::Binary &node, const Variables &variables, Piece &out);
  ErrorPtr unary(const ast::Unary &node, const Variables &variables, Piece &out);
  ErrorPtr subscript(const ast::Subscript &access, const Variables &variables, Piece &out);
  ErrorPtr call(const ast::Call &call, const Variables &variables, Piece &out);
  ErrorPtr builtin(llvm::StringRef name, const ast::Call &call, std::vector<Piece> args,
                   Piece &out);
  ErrorPtr ceiling(const ast::Call &call, const Variables &variables, Piece &out);
  ErrorPtr compare(const ast::Compare &compare, const Variables &variables, Piece &out);
  ErrorPtr comparison(ast::CompareOp op, Piece a, Piece b, Piece &out);
  ErrorPtr choose(Piece condition, Piece then, Piece otherwise, Piece &out);
  ErrorPtr combine(Step::Op op, Piece a, Piece b, Piece &out);
  ErrorPtr apply(Step::Op op, Piece a, Piece &out);
  Result evaluate(const ast::Expr &expr);

  eval::Evaluator &evaluator;
  const FormulaNames &names;
  eval::ModuleEnv *module = nullptr;
  const frontend::SourceFile *text = nullptr; ///< of what is being compiled
  unsigned depth = 0;
};

inline ErrorPtr tooLarge() { return eval::unsupported("this is too large to run at every launch"); }
inline ErrorPtr notSupported(const char *what) {
  return eval::unsupported(
      formatted("{} cannot run at every launch: integers, comparisons, `min`, `max`, "
                "`triton.cdiv`, `triton.next_power_of_2` and calls of functions made of these can",
                what));
}

inline Piece known(PyValue value) {
  Piece piece;
  piece.known = std::move(value);
  return piece;
}

} // namespace tile::jit::formula

#endif // TILE_RUNTIME_JIT_FORMULAIMPL_H
