//===- BuiltinTables.h - builtin functions by canonical name --------------===//
//
// One table a group of functions. A name without a dot is visible everywhere;
// the others are reached through their modules.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_BUILTINTABLES_H
#define TILE_FRONTEND_EVAL_BUILTINTABLES_H

#include "frontend/eval/Methods.h"

namespace tile::eval {

using BuiltinFn = Result (*)(Evaluator &, const CallArgs &args);
struct BuiltinEntry {
  llvm::StringRef name;
  BuiltinFn fn;
};

llvm::ArrayRef<BuiltinEntry> numberBuiltins();
llvm::ArrayRef<BuiltinEntry> sequenceBuiltins();
llvm::ArrayRef<BuiltinEntry> tritonBuiltins();

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_BUILTINTABLES_H
