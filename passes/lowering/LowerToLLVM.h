//===- LowerToLLVM.h - the last step above LLVM ---------------------------===//
#ifndef TILE_PASSES_LOWERING_LOWERTOLLVM_H
#define TILE_PASSES_LOWERING_LOWERTOLLVM_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace tile {

/// See LowerToLLVM.cpp for the contract.
std::unique_ptr<mlir::Pass> createLowerToLLVMPass();

} // namespace tile

#endif // TILE_PASSES_LOWERING_LOWERTOLLVM_H
