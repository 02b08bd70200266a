//===- Counters.h - counters that keep their distance from a loop's own ---===//
#ifndef TILE_PASSES_TILE_COUNTERS_H
#define TILE_PASSES_TILE_COUNTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// Scalars that loops carry for their turns alone, and that grow by the loop's step, become the
/// loop's variable plus what they are ahead of it; what follows from both is then computed once.
/// How many there were.
unsigned joinCounters(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_TILE_COUNTERS_H
