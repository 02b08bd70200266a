//===- TurnedOperands.h - operands that lie otherwise than they are read ---===//
#ifndef TILE_PASSES_COPIES_TURNEDOPERANDS_H
#define TILE_PASSES_COPIES_TURNEDOPERANDS_H

#include "ir/TileDialect.h"
#include "passes/facts/StridedAccess.h"

namespace tile {

/// The load that gives `block`, as it is or through a descriptor with further dimensions of
/// size one; null if there is none.
mlir::Operation *loadBehind(mlir::Value block);

/// What `v` is a transposition of, or itself, and which of its dimensions those of `v` are.
std::pair<mlir::Value, llvm::SmallVector<int32_t>> beforeTurns(mlir::Value v);

/// The dimension along which what a load gives is known to be contiguous in memory.
std::optional<unsigned> contiguousDim(mlir::Operation *load, StridedAnalysis &analysis);

/// Whether `v`, an operand of a warpgroup product, is loaded, and lies in memory along the
/// dimension along which the instruction cannot read it. The threads have to turn it before each
/// product: a ring, which another warp fills, would keep the other operand for a product that
/// cannot be under way while they turn the next, and cost that warp's registers.
bool isTurnedByThreads(mlir::Value v, bool isLeft, StridedAnalysis &analysis);

} // namespace tile

#endif // TILE_PASSES_COPIES_TURNEDOPERANDS_H
