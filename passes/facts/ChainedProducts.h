//===- ChainedProducts.h - one product made of the result of another ------===//
#ifndef TILE_PASSES_FACTS_CHAINEDPRODUCTS_H
#define TILE_PASSES_FACTS_CHAINEDPRODUCTS_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tile {

/// Products of a loop, of which the last takes its left operand from registers, made of the result
/// of another, and adds to a sum that a turn does nothing with but scale: attention.
struct ChainedProducts {
  llvm::SmallVector<cta::WarpgroupDotOp> dots;
  cta::WarpgroupDotOp first, last;           ///< of `dots`, the last two
  unsigned sumArg = 0;                       ///< which of the loop's variables `last` adds to
  llvm::DenseSet<mlir::Operation *> scaling; ///< what is done with the sum before
  mlir::arith::TruncFOp narrowing;           ///< gives the left operand; may be null

  /// Registers that a thread wants in the loop; `chained`: with the last product in the next turn.
  int64_t registers(mlir::scf::ForOp loop, bool chained) const;
};

std::optional<ChainedProducts> chainedProducts(mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_FACTS_CHAINEDPRODUCTS_H
