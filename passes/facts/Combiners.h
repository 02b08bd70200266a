//===- Combiners.h - what is known of a reduction's combiner --*- C++ -*-===//
//
// A combiner is associative by the author's word. Whether it is commutative, too, so that
// elements may be combined in any order, has to be read off it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_COMBINERS_H
#define TILE_PASSES_FACTS_COMBINERS_H

#include "ir/TileDialect.h"

namespace tile {

/// Whether it can be seen that combining (a, b) gives what combining (b, a) does, to the bit.
bool isCommutative(mlir::Block &combiner);

/// Whether both give the same but for what is rounded: as formulas of real numbers, wherever
/// nothing is divided by zero, or as a choice between numbers, whatever becomes of a NaN. Threads
/// that are to have the same bits combine in the same order.
bool isCommutativeFormula(mlir::Block &combiner);

/// Whether the elements have to be combined in the order of their positions.
inline bool needsOrder(ReduceOp op) {
  return !isCommutative(op.getCombineBlock()) && !isCommutativeFormula(op.getCombineBlock());
}

} // namespace tile

#endif // TILE_PASSES_FACTS_COMBINERS_H
