//===- ModuleStatement.h - a statement of a file's top level --------------===//
#ifndef TILE_FRONTEND_EVAL_MODULESTATEMENT_H
#define TILE_FRONTEND_EVAL_MODULESTATEMENT_H

#include "frontend/eval/ModuleEnv.h"

namespace tile::eval {

/// Whether `stmt` chooses, and compile time cannot. What takes too long is no choice.
inline bool isUndecided(const ast::Stmt &stmt, const EvalError *error) {
  return error && error->type != "LimitError" && llvm::isa<ast::If, ast::Try>(stmt);
}

struct ModuleEnv::Statement {
  const ast::Stmt *stmt;
  enum class State { Waiting, Running, Done } state = State::Waiting;
  std::shared_ptr<Scope> scope;
  std::unique_ptr<EvalError> error;

  bool isUndecided() const { return eval::isUndecided(*stmt, error.get()); }
};

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_MODULESTATEMENT_H
