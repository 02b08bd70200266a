//===- Selection.h - instructions that LLVM's selector is slow to find ----===//
//
// The selector tries its patterns of intrinsics one after another, about a thousand of them:
// `ex2.approx` costs it four times an addition. Operations of LLVM IR it finds at once. So
// intrinsics that kernels are full of go through it as operations that may be approximated
// (`afn`, which nothing else in a kernel has), and what is selected for those is made the
// instruction that was meant:
//
//   intrinsic         operation        selected          made
//   ex2.approx.ftz    exp2(x)          ex2.approx        ex2.approx.ftz
//   rcp.approx.ftz    1 / x            rcp.approx        rcp.approx.ftz
//   div.full          x / y            div.approx        div.full
//
// Before and behind, there are only the intrinsics and the instructions: the code is the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_SELECTION_H
#define TILE_COMPILER_SELECTION_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class FunctionPass;
class MCInstrInfo;
} // namespace llvm

namespace tile {

/// Of the back end's instructions that the passes go by.
struct SelectedInstructions {
  unsigned exp2 = 0, reciprocal = 0, quotient = 0, fullQuotient = 0;

  /// Those that LLVM does not have (any more) are added to `missing`.
  SelectedInstructions(const llvm::MCInstrInfo &all, std::vector<std::string> &missing);
  bool areKnown() const { return exp2 && reciprocal && quotient && fullQuotient; }
};

/// The pass before the selector: intrinsics become operations.
llvm::FunctionPass *createOperationsPass();

/// The pass behind it: what was selected for those becomes what was meant.
llvm::FunctionPass *createMeantInstructionsPass(SelectedInstructions instructions);

} // namespace tile

#endif // TILE_COMPILER_SELECTION_H
