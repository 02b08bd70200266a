//===- Statements.h - runs statements at compile time ---------------------===//
#ifndef TILE_FRONTEND_EVAL_STATEMENTS_H
#define TILE_FRONTEND_EVAL_STATEMENTS_H

#include "frontend/eval/Evaluator.h"

namespace tile::eval {

/// How a statement ended.
struct Flow {
  enum class Kind { Next, Break, Continue, Return, Error };
  Kind kind = Kind::Next;
  PyValue value;                    ///< Return
  std::unique_ptr<EvalError> error; ///< Error

  Flow(Kind kind = Kind::Next) : kind(kind) {}
  Flow(std::unique_ptr<EvalError> error) : kind(Kind::Error), error(std::move(error)) {}
};

class StatementRunner {
public:
  explicit StatementRunner(Evaluator &evaluator) : evaluator(evaluator) {}
  using ScopePtr = std::shared_ptr<Scope>;

  /// Runs a function's body and gives what it returns.
  Result runBody(const ast::Body &body, const ScopePtr &scope);
  Flow run(const ast::Stmt &stmt, const ScopePtr &scope);
  Flow run(const ast::Body &body, const ScopePtr &scope);
  /// A function closes over `scope`. What holds each other is released with the case
  /// that runs (ScopeArena), or else with the file.
  void keepClosure(const ScopePtr &scope);
  /// What is written above the body of a function (defaults, decorators, annotations) is evaluated
  /// in this scope: there globals are what they were above the function, for its body what they
  /// are in the end.
  static ScopePtr scopeAbove(const FunctionObject &function, SourceRange part);
  /// Of the statement at a file's top level that `part` belongs to; null before it has run.
  static ScopePtr scopeAt(ModuleEnv &module, SourceRange part);

private:
  Flow runAssign(const ast::Assign &stmt, const ScopePtr &scope);
  Flow runAnnAssign(const ast::AnnAssign &stmt, const ScopePtr &scope);
  Flow runWith(const ast::With &stmt, const ScopePtr &scope);
  Flow runReturn(const ast::Return &stmt, const ScopePtr &scope);
  Flow runClassDef(const ast::ClassDef &stmt, const ScopePtr &scope);
  Flow runAugAssign(const ast::AugAssign &stmt, const ScopePtr &scope);
  Flow runIf(const ast::If &stmt, const ScopePtr &scope);
  Flow runLoop(const ast::Stmt &stmt, const ScopePtr &scope);
  Flow runFor(const ast::For &stmt, const ScopePtr &scope);
  Flow runWhile(const ast::While &stmt, const ScopePtr &scope);
  Flow runTry(const ast::Try &stmt, const ScopePtr &scope);
  Flow runHandlers(const ast::Try &stmt, Flow failed, const ScopePtr &scope);
  Flow runRaise(const ast::Raise &stmt, const ScopePtr &scope);
  Flow runAssert(const ast::Assert &stmt, const ScopePtr &scope);
  Flow runImport(const ast::Import &stmt, const ScopePtr &scope);
  Flow runImportFrom(const ast::ImportFrom &stmt, const ScopePtr &scope);
  Flow runDelete(const ast::Delete &stmt, const ScopePtr &scope);
  Result condition(const ast::Expr &expr, const ScopePtr &scope);
  Flow errorAt(std::unique_ptr<EvalError> error, const ScopePtr &scope, SourceRange range);

  Evaluator &evaluator;
};

/// The statement lists inside a statement that is not a definition.
llvm::SmallVector<const ast::Body *> innerBodies(const ast::Stmt &stmt);

/// The text of a dotted name; empty for any other expression.
std::string dottedName(const ast::Expr &expr);
/// Whether a context or decorator says what is so everywhere: `torch.no_grad`, `inference_mode`.
bool isWithoutGradients(llvm::StringRef context);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_STATEMENTS_H
