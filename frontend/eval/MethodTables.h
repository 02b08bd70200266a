//===- MethodTables.h - methods by type and name --------------------------===//
#ifndef TILE_FRONTEND_EVAL_METHODTABLES_H
#define TILE_FRONTEND_EVAL_METHODTABLES_H

#include "frontend/eval/Methods.h"

namespace tile::eval {

using MethodFn = Result (*)(Evaluator &, const PyValue &self, const CallArgs &args);
struct MethodEntry {
  llvm::StringRef name;
  MethodFn fn;
};

llvm::ArrayRef<MethodEntry> stringMethods();
llvm::ArrayRef<MethodEntry> tupleMethods();
llvm::ArrayRef<MethodEntry> namedTupleMethods();
llvm::ArrayRef<MethodEntry> listMethods();
llvm::ArrayRef<MethodEntry> dictMethods();
llvm::ArrayRef<MethodEntry> setMethods();

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_METHODTABLES_H
