//===- UnrollLoops.h - products whose turns share their arithmetic -*- C++ -*-===//
#ifndef TILE_COMPILER_UNROLLLOOPS_H
#define TILE_COMPILER_UNROLLLOOPS_H

#include "llvm/IR/PassManager.h"

namespace tile {

struct UnrollLoops : llvm::PassInfoMixin<UnrollLoops> {
  llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &fam);
};

} // namespace tile

#endif // TILE_COMPILER_UNROLLLOOPS_H
