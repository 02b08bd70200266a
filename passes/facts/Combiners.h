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

/// Whether it can be seen that combining (a, b) gives what combining (b, a) does.
bool isCommutative(mlir::Block &combiner);

/// Whether the elements have to be combined in the order of their positions.
inline bool needsOrder(ReduceOp op) { return !isCommutative(op.getCombineBlock()); }

} // namespace tile

#endif // TILE_PASSES_FACTS_COMBINERS_H
