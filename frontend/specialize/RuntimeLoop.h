//===- RuntimeLoop.h - what a loop carries from turn to turn --------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_RUNTIMELOOP_H
#define TILE_FRONTEND_SPECIALIZE_RUNTIMELOOP_H

#include "frontend/specialize/Assigned.h"
#include "frontend/specialize/Specializer.h"

namespace tile::specialize {

/// A loop that run time decides, under construction:
///  1. the constructor finds the carried names and their initial values;
///  2. enter() binds them to block arguments;
///  3. collect() checks their values at the end of an iteration;
///  4. leave() binds them to the loop's results.
class RuntimeLoop {
public:
  RuntimeLoop(Specializer &s, const ast::Body &body, const ast::Expr *induction,
              const ast::Expr *condition);

  llvm::SmallVector<mlir::Value> inits;
  void enter(llvm::ArrayRef<mlir::Value> arguments);
  llvm::SmallVector<mlir::Value> collect();
  void leave(llvm::ArrayRef<mlir::Value> results);
  /// True on an iteration that no `break` or `return` prevents.
  Tensor mayContinue(Tensor condition);
  bool canBreak = false, canReturn = false;

private:
  struct Carried {
    llvm::StringRef name;
    PyValue init;
    SourceRange range;
  };
  bool match(const PyValue &init, const PyValue &now, llvm::SmallVectorImpl<mlir::Value> &leaves);
  void carryFlag(llvm::StringRef name);

  Specializer &s;
  AssignedNames assigned, inductionNames;
  llvm::SmallVector<Carried> carried;
  Variables before;
};

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_RUNTIMELOOP_H
