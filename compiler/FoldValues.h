//===- FoldValues.h - values are folded where they stand -------*- C++ -*-===//
#ifndef TILE_COMPILER_FOLDVALUES_H
#define TILE_COMPILER_FOLDVALUES_H

#include "llvm/IR/PassManager.h"

namespace tile {

struct FoldValues : llvm::PassInfoMixin<FoldValues> {
  llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &fam);
};

} // namespace tile

#endif // TILE_COMPILER_FOLDVALUES_H
