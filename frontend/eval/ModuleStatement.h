//===- ModuleStatement.h - a statement of a file's top level --------------===//
#ifndef TILE_FRONTEND_EVAL_MODULESTATEMENT_H
#define TILE_FRONTEND_EVAL_MODULESTATEMENT_H

#include "frontend/eval/ModuleEnv.h"

namespace tile::eval {

struct ModuleEnv::Statement {
  const ast::Stmt *stmt;
  enum class State { Waiting, Running, Done } state = State::Waiting;
  std::shared_ptr<Scope> scope;
  std::unique_ptr<EvalError> error;

  /// It chooses, and compile time cannot. What takes too long is no choice.
  bool isUndecided() const {
    return error && error->type != "LimitError" && llvm::isa<ast::If, ast::Try>(stmt);
  }
};

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_MODULESTATEMENT_H
