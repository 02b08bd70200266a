//===- RunningMaximum.h - sums relative to a maximum that grows -*- C++ -*-===//
#ifndef TILE_PASSES_SCHEDULE_RUNNINGMAXIMUM_H
#define TILE_PASSES_SCHEDULE_RUNNINGMAXIMUM_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/schedule/PartialReductions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace tile {

/// A maximum that a loop carries, and the loop's sums of exponentials of what is below it. All of
/// them could be relative to any other number in its place.
struct RunningMaximum {
  mlir::scf::ForOp loop;
  unsigned number = 0; ///< of the loop's variables, the maximum
  mlir::Operation *maximum = nullptr;
  ReduceOp reduce; ///< of elements that the maximum is of
  /// The two: a scale, and a number in the place of -inf. In the order of their results.
  llvm::SmallVector<mlir::Operation *> between;
  mlir::Value factor; ///< the scale, a number or a constant block; may be null
  std::optional<PartialReduction> partial;

  llvm::StringRef exponential;      ///< the operation that all exponentials are
  mlir::Operation *scale = nullptr; ///< gives what sums are scaled by when the maximum grows
  llvm::SetVector<mlir::Operation *> growth; ///< what makes `scale` of the maximum, in order
  /// The loop's variables that are relative to the maximum, and what scales them.
  llvm::MapVector<unsigned, mlir::arith::MulFOp> sums;
  double mostAbove = 0; ///< log2 of how far sums may be above 1 in the types that they have

  /// By what the loop's variable `i` is multiplied.
  mlir::Value scaleOf(unsigned i) {
    mlir::arith::MulFOp scaling = sums[i];
    return scaling->getOperand(scaling.getLhs() == loop.getRegionIterArg(i) ? 1 : 0);
  }
  /// Whether `v` is more than a number for each row.
  bool isLarge(mlir::Value v) {
    auto elements = [](mlir::Type t) { return mlir::cast<mlir::ShapedType>(t).getNumElements(); };
    return elements(v.getType()) > elements(loop.getResult(number).getType());
  }
};

/// Nothing if `loop` has none, or does with one what makes it more than a number to be relative to.
std::optional<RunningMaximum> findRunningMaximum(mlir::scf::ForOp loop);

/// A number that all elements of `v` are, or `v`, a constant; null if that is not known.
mlir::Value numberOf(mlir::Value v);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_RUNNINGMAXIMUM_H
