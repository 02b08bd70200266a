//===- ProgramLengths.h - how long programs run ------------------*- C++ -*-===//
#ifndef TILE_PASSES_FACTS_PROGRAMLENGTHS_H
#define TILE_PASSES_FACTS_PROGRAMLENGTHS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// Whether loops that copy by TMA may run longer in some programs of the grid than in others, as
/// far as their bounds say: a causal mask, lengths that are loaded.
bool hasUnequalLoops(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_FACTS_PROGRAMLENGTHS_H
