//===- ComputedOperands.h - loads that no copy of an operand replaces ------===//
#ifndef TILE_PASSES_COPIES_COMPUTEDOPERANDS_H
#define TILE_PASSES_COPIES_COMPUTEDOPERANDS_H

#include "mlir/IR/Value.h"

namespace tile {

/// Says of the blocks that `operand` of a product is computed from why they are not copied by TMA:
/// a copy brings what is multiplied as it lies in memory, whatever branch is taken. Changes
/// nothing.
void refuseLoadsOf(mlir::Value operand);

} // namespace tile

#endif // TILE_PASSES_COPIES_COMPUTEDOPERANDS_H
