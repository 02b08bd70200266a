//===- RuntimeLoop.h - what a loop carries from turn to turn --------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_RUNTIMELOOP_H
#define TILE_FRONTEND_SPECIALIZE_RUNTIMELOOP_H

#include "frontend/specialize/Assigned.h"
#include "frontend/specialize/LoopCounter.h"

namespace tile::specialize {

/// A loop that run time decides, under construction:
///  1. the constructor finds the carried names and their initial values;
///  2. enter() binds them to block arguments;
///  3. collect() checks their values at the end of an iteration;
///  4. leave() binds them to the loop's results.
class RuntimeLoop {
public:
  /// A `while`, and a `for` over a range.
  RuntimeLoop(Specializer &s, const ast::While &loop);
  RuntimeLoop(Specializer &s, const ast::For &loop, const LoopCounter &counter);

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
    bool isOptional = false; ///< had no value before; one of another type is none behind
    std::string problem;
  };
  /// The variable of a `for`, which keeps its last value behind the loop.
  struct Induction {
    llvm::StringRef name;
    const LoopCounter *counter = nullptr;
    Tensor before; ///< what the name held, if anything
    bool isCarried = false;
    std::string missing; ///< when not empty: why it has no value behind
  };
  void readBody(const ast::Body &body);
  void finishConstruction();
  void keepInduction(const ast::For &loop, const LoopCounter &counter);
  bool readBefore(const PyValue &value);
  void leaveInduction();
  bool match(const PyValue &init, const PyValue &now, llvm::SmallVectorImpl<mlir::Value> &leaves);
  void carryFlag(llvm::StringRef name);

  Specializer &s;
  AssignedNames assigned, inductionNames;
  Induction induction;
  llvm::SmallVector<Carried> carried;
  Variables before;
};

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_RUNTIMELOOP_H
