//===- EqualRuns.h - elements of a block that are known to be equal -------===//
//
// tile-assign-layouts notes, as `cta.equal_runs` of an operation, the lengths of aligned runs of
// equal elements along each dimension of its result. A thread that holds several elements of a run
// computes or loads one of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_EQUALRUNS_H
#define TILE_PASSES_FACTS_EQUALRUNS_H

#include "ir/TileDialect.h"
#include "ir/layout/LinearLayout.h"
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

/// Registers of a thread for the addresses that loads of `body` itself start from in each turn, but
/// for those that the loop carries.
int64_t registersOfAddresses(mlir::Block *body);

} // namespace tile

#endif // TILE_PASSES_FACTS_EQUALRUNS_H
