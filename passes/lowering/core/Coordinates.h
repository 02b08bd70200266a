//===- Coordinates.h - registers by the elements they hold ------*- C++ -*-===//
#ifndef TILE_PASSES_LOWERING_CORE_COORDINATES_H
#define TILE_PASSES_LOWERING_CORE_COORDINATES_H

#include "ir/layout/LinearLayout.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::lowering {

/// The coordinates (dim0, dim1, ...) of a register at lane 0, warp 0.
llvm::SmallVector<int32_t> registerCoordinates(const layout::LinearLayout &layout, int32_t reg);

/// For each register of `dst`, the register of `src` that holds the same
/// element after `project` has mapped dst coordinates to src coordinates.
/// Relies on lane and warp parts already agreeing. -1 where there is none.
llvm::SmallVector<int>
matchRegisters(const layout::LinearLayout &dst, const layout::LinearLayout &src,
               llvm::function_ref<llvm::SmallVector<int32_t>(llvm::ArrayRef<int32_t>)> project);

/// A register of a run of elements that count up by one: the run's first, and how much less that
/// is.
struct InRun {
  unsigned first;
  int64_t steps;
};

/// For each register of a remainder its place in a run of equal quotients that the thread holds
/// (`cta.equal_runs`); nothing where none are noted, or each thread holds other places of them.
llvm::SmallVector<InRun> placesInRuns(mlir::Operation *op);

/// For each register of the operation's result the first one that is known to hold an equal
/// element (`cta.equal_runs`); nothing where no runs are noted, or those of a remainder's quotient.
llvm::SmallVector<unsigned> firstOfEqual(mlir::Operation *op);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_CORE_COORDINATES_H
