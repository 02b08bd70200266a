//===- EqualRuns.h - elements of a block that are known to be equal -------===//
//
// tile-assign-layouts notes, as `cta.equal_runs` of an operation, the lengths of aligned runs of
// equal elements along each dimension of its result. A thread that holds several elements of a run
// computes or loads one of them. Of a remainder they are the runs of equal quotients, over which it
// counts up: a thread divides for one element of a run.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_EQUALRUNS_H
#define TILE_PASSES_FACTS_EQUALRUNS_H

#include "ir/TileDialect.h"
#include "ir/layout/LinearLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/facts/AxisInfo.h"

namespace tile {

/// Lengths of the runs of equal elements that a load gives, along each dimension: of equal
/// addresses behind the same mask. None for a single element, and where each is to be read.
llvm::SmallVector<int64_t, 4> equalRunsOf(LoadOp load, AxisInfoAnalysis &axes);

/// Of the registers of a thread in layout `l`, those in runs of their own.
unsigned distinctRegisters(const layout::LinearLayout &l, llvm::ArrayRef<int64_t> runs);

/// Registers of a thread that a laid-out value takes (registersOf), without those of loads that
/// are equal to others, and of addresses that a loop carries for such loads alone.
int64_t distinctRegistersOf(mlir::Value value);

/// Registers of a thread that each turn of the loop starts with: what the loop carries, and the
/// addresses that its own loads start from, but for those that it carries.
int64_t registersOfTurn(mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_FACTS_EQUALRUNS_H
