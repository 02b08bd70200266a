//===- WholeMasks.h - when all elements of a mask are alike -----*- C++ -*-===//
//
// The masks of a block compare positions: numbers that start somewhere and run on. Their ends say
// of all of them that they are before another block's, and cost a few single numbers where the
// mask itself has one for each element:
//
//   (m + range(64))[:, None] >= (n + range(32))[None, :]      true everywhere if m >= n + 31
//
// Arithmetic of blocks wraps, and the ends of what may have wrapped say nothing. They are computed
// in 64 bits, and what is said holds only where each step stays within its own type.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_WHOLEMASKS_H
#define TILE_PASSES_FACTS_WHOLEMASKS_H

#include "mlir/IR/Builders.h"

namespace tile {

/// Whether `isWhole` has an answer.
bool mayBeWhole(mlir::Value mask, bool wanted);
/// A single truth, computed where `b` stands, from which it follows that each element of `mask` is
/// `wanted`. It may be false where they are all the same.
mlir::Value isWhole(mlir::OpBuilder &b, mlir::Value mask, bool wanted);

} // namespace tile

#endif // TILE_PASSES_FACTS_WHOLEMASKS_H
