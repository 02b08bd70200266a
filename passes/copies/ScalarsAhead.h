//===- ScalarsAhead.h - numbers that a loop loads, a turn ahead ------------===//
#ifndef TILE_PASSES_COPIES_SCALARSAHEAD_H
#define TILE_PASSES_COPIES_SCALARSAHEAD_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Loads of single numbers in the body of `loop` itself whose addresses are known a turn
/// ahead.
llvm::SmallVector<LoadOp> scalarsAhead(mlir::scf::ForOp loop);

/// Loads of the body of `loop` itself, of numbers and of blocks, that are known a turn ahead.
llvm::SmallVector<LoadOp> loadsAhead(mlir::scf::ForOp loop);

/// Each of `loads`, as far as it is still needed, is made in the turn before, and its result
/// carried. Returns the loop that takes the place of `loop`.
mlir::scf::ForOp loadTurnAhead(mlir::scf::ForOp loop, llvm::ArrayRef<LoadOp> loads);

/// All that `loadsAhead` gives is loaded `turns` turns before, and carried.
void keepAhead(mlir::scf::ForOp loop, int32_t turns);

} // namespace tile

#endif // TILE_PASSES_COPIES_SCALARSAHEAD_H
