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
llvm::ArrayRef<BuiltinEntry> hostBuiltins();

/// `triton.aggregate(Class)`, called rather than written above the class.
Result makeAggregate(Evaluator &evaluator, const ClassObject &plain);

/// Modules of the imagined machine that files are imported on, and their members.
bool isHostModule(llvm::StringRef name);
Result hostMember(llvm::StringRef module, llvm::StringRef name);
/// What tutorials give as `device=`, and tensors of host functions have as theirs: the only one.
PyValue torchDevice();

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_BUILTINTABLES_H
