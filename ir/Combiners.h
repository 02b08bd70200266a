//===- Combiners.h - what a reduction combines elements with ----*- C++ -*-===//
#ifndef TILE_IR_COMBINERS_H
#define TILE_IR_COMBINERS_H

#include "ir/TileDialect.h"

namespace tile {

/// The operation that the combiner of a reduction or a scan is, if it is one: of one value, it
/// takes the left and the right element, in this order unless it is commutative, and what it gives
/// is what the combiner gives. Null if there is more to it, if only a second value.
mlir::Operation *soleCombiner(mlir::Block &combiner);

/// Whether that adds two numbers.
bool isSum(mlir::Block &combiner);

} // namespace tile

#endif // TILE_IR_COMBINERS_H
