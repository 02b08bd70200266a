//===- ProgramLengths.h - how long programs run ------------------*- C++ -*-===//
#ifndef TILE_PASSES_FACTS_PROGRAMLENGTHS_H
#define TILE_PASSES_FACTS_PROGRAMLENGTHS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// Whether loops that copy by TMA may run longer in some programs of the grid than in others, as
/// far as their bounds say: a causal mask, lengths that are loaded.
bool hasUnequalLoops(mlir::func::FuncOp kernel);

/// Whether programs further along `axis` of the grid run longer: there are loops that load or
/// multiply and have more turns there, and none that has fewer, or of which nothing is known. It is
/// asked for the sake of time only: sizes and factors that are the same for all programs are taken
/// for positive, and what repeats (a remainder) for what it is within a period.
bool growAlong(mlir::func::FuncOp kernel, int32_t axis);

} // namespace tile

#endif // TILE_PASSES_FACTS_PROGRAMLENGTHS_H
