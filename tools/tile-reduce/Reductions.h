//===- Reductions.h - what a smaller program is ----------------------------===//
#ifndef TILE_TOOLS_TILE_REDUCE_REDUCTIONS_H
#define TILE_TOOLS_TILE_REDUCE_REDUCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Whether `op` is inside of a function, and no end of a block: what can go by itself.
bool canGo(mlir::Operation *op);

enum class Reduction {
  Remove,  ///< what nobody uses goes, a loop becomes what it starts from, another value an
           ///< operand of its type, else a constant
  Flatten, ///< a loop becomes one turn, a branch its first side
};
/// Makes something simpler of `op`; false if that is nothing of the kind.
bool reduce(mlir::Operation *op, Reduction how, mlir::RewriterBase &rewriter);

} // namespace tile

#endif // TILE_TOOLS_TILE_REDUCE_REDUCTIONS_H
