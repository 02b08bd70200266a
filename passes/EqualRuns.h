//===- EqualRuns.h - where equal elements arise ---------------------------===//
#ifndef TILE_PASSES_EQUALRUNS_H
#define TILE_PASSES_EQUALRUNS_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// On an op whose result is equal over aligned runs of elements although its
/// operands are not (a mask against the end of a row): the length of the runs
/// along each axis, powers of two. Set by the layout pass, used by the lowering.
inline constexpr llvm::StringLiteral kEqualRunsAttr = "cta.equal_runs";

} // namespace tile

#endif // TILE_PASSES_EQUALRUNS_H
