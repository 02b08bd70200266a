//===- Rounds.h - loops cut into rounds of several turns ------*- C++ -*-===//
//
// What repeats the body of a loop n times runs rounds of n turns, and then the turns that are
// left. Between the two the counter has to be in its type, also where the one behind the last
// turn is not.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_ROUNDS_H
#define TILE_PASSES_ROUNDS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace tile {

/// The counter behind the last round of `turns` turns of a loop.
mlir::Value endOfRounds(mlir::OpBuilder &b, mlir::scf::ForOp loop, int64_t turns);

/// Makes a round of `turns` turns the loop's body, and a loop of those that are left. Not where
/// the step is a constant of which `turns` are no number of its type.
mlir::FailureOr<mlir::UnrolledLoopInfo> unrollIntoRounds(mlir::scf::ForOp loop, int64_t turns);

} // namespace tile

#endif // TILE_PASSES_ROUNDS_H
