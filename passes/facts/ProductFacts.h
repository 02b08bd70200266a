//===- ProductFacts.h - what can be done around warpgroup products --------===//
#ifndef TILE_PASSES_FACTS_PRODUCTFACTS_H
#define TILE_PASSES_FACTS_PRODUCTFACTS_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/facts/Refusals.h"
#include <optional>

namespace tile {

/// What can be done with a product while another is under way.
bool isElementByElement(mlir::Operation *op);

/// Whether a product with this accumulator starts anew, and adds to nothing. (-0 is another number:
/// what it is added to keeps its sign.)
bool startsAnew(mlir::Value acc);

/// Cycles of the tensor cores for the share of a product that one of `warpgroups` has: 128 for
/// 64 x 256 x 32 bytes.
int64_t cyclesOfShare(cta::WarpgroupDotOp dot, unsigned warpgroups);

/// Warpgroups that compute, of all programs on a multiprocessor, from which on more do not help:
/// one for each of its tensor cores, and more where their products are so short that those of
/// so few do not cover what a turn of the loop takes besides.
int64_t enoughWarpgroups(mlir::func::FuncOp kernel);

/// The accumulator goes round the loop and is seen by nobody else.
bool onlyAddsUp(cta::WarpgroupDotOp dot, mlir::scf::ForOp loop);

/// All products of `loop`, if they are in its own block, and nothing has been done yet about when
/// they are issued and waited for; none otherwise.
llvm::SmallVector<cta::WarpgroupDotOp> plainProducts(mlir::scf::ForOp loop);

/// Products of a loop that can be in flight from one iteration to the next.
struct Flight {
  llvm::SmallVector<cta::WarpgroupDotOp, 2> dots;
  llvm::SmallVector<cta::RingReleaseOp, 2> releases; ///< of the rings' slots that they read
};
/// Why products of `loop` are not to be in flight from one iteration to the next; nothing if they
/// are to be, with what is in `flight` then. Their operands are in slots of rings, in buffers from
/// before the loop, or where `isSpare` says so: in slots that are filled an iteration later than
/// they could be. Who makes such slots asks this, and so does who puts the products in flight.
std::optional<Reason> obstacleToFlight(mlir::scf::ForOp loop,
                                       llvm::function_ref<bool(mlir::Value operand)> isSpare,
                                       Flight &flight);

} // namespace tile

#endif // TILE_PASSES_FACTS_PRODUCTFACTS_H
