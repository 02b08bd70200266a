//===- Saturation.h - limits that a conversion has itself -----------------===//
#ifndef TILE_PASSES_TILE_SATURATION_H
#define TILE_PASSES_TILE_SATURATION_H

#include "mlir/IR/BuiltinOps.h"

namespace tile {

/// Of limits in front of conversions to 8-bit floats, which end at the largest finite number
/// themselves, those go that change nothing else: NaN stays what it was made. The number of them.
unsigned dropSaturated(mlir::ModuleOp module);

} // namespace tile

#endif // TILE_PASSES_TILE_SATURATION_H
