//===- ExplainFunction.h - what a function of whole tensors became --------===//
//
// Its kernels, the fusions that were not taken and why, and the bytes that each kernel
// moves, beside those that the function would move operation by operation and those that
// it must: as formulas, and as numbers where sizes are known.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_FUNCTIONS_EXPLAINFUNCTION_H
#define TILE_COMPILER_FUNCTIONS_EXPLAINFUNCTION_H

#include "compiler/functions/TensorProgram.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tile {

struct FunctionExplanation {
  std::string name;
  const TensorProgram &program;
  const tensors::Signature &signature;
  graph::Bindings values; ///< sizes that are known

  void print(llvm::raw_ostream &os) const;
  llvm::json::Object toJson() const;
};

} // namespace tile

#endif // TILE_COMPILER_FUNCTIONS_EXPLAINFUNCTION_H
