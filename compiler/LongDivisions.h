//===- LongDivisions.h - divisions of 64 bits -----------------*- C++ -*-===//
#ifndef TILE_COMPILER_LONGDIVISIONS_H
#define TILE_COMPILER_LONGDIVISIONS_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// Divides numbers of 64 bits that 32 can hold as such, where the quotient fits, too.
struct ShortenDivisions : llvm::PassInfoMixin<ShortenDivisions> {
  llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &fam);
};

} // namespace tile

#endif // TILE_COMPILER_LONGDIVISIONS_H
