//===- FormFacts.h - what a form of a kernel with products has ------------===//
//
// tile-fit-shared-memory lays a kernel out in several forms and takes one. What it compares of
// them is counted here, over the laid-out module.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_FORMFACTS_H
#define TILE_PASSES_FACTS_FORMFACTS_H

#include "ir/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile {

/// Stages with which something is copied ahead.
inline constexpr int32_t kFewestAhead = 2;

/// The most that a kernel of the module has of what `of` counts.
int64_t blocksOf(mlir::ModuleOp module, int64_t (*of)(mlir::func::FuncOp));
/// Registers of blocks that a thread holds during products, of warpgroups or of warps.
int64_t heldBlocks(mlir::ModuleOp module);
/// Warpgroups that compute, of all programs that fit a multiprocessor if some warps only copy.
/// What arithmetic takes beside blocks that live across products is not in the estimate: it is
/// counted as the registers of a warpgroup in place of a warp that copies (gradients of linear
/// attention with 113 registers were held for fit to run four programs with roles, ran two, and
/// took twice as long).
int64_t warpgroupsWithRoles(mlir::ModuleOp module);
/// The same, where threads that multiply copy for themselves: they have addresses besides.
int64_t warpgroupsWithRolesAndCopies(mlir::ModuleOp module);
/// And in the form that there is.
int64_t warpgroupsNow(mlir::ModuleOp module);
/// The warps of these, or of programs that are less than a warpgroup.
int64_t warpsNow(mlir::ModuleOp module);
/// And if its programs took so much shared memory.
int64_t warpgroupsWith(mlir::ModuleOp module, int64_t sharedBytes);
/// Whether something is done while products run.
bool overlaps(mlir::ModuleOp module);
/// Whether results of products are added up under the next products, and would have no room where
/// each is waited for: there the assembler moves the additions of a turn behind its last product,
/// so that all results of the turn are held beside the sums.
bool needsResultsInTurn(mlir::ModuleOp module);
/// Whether programs may leave before all loops that multiply. Of a grid that is larger than what
/// there is to do, most only start and end, and take the longer for it the larger they are.
bool mayLeaveEarly(mlir::ModuleOp module);
/// The same for programs that a number which each loads tells so. One that comes after others in
/// its thread block waits for that load, and has nothing else to do meanwhile.
bool mayLeaveForWhatIsLoaded(mlir::ModuleOp module);
/// Whether all loops that multiply turn so seldom that nothing is copied long before its turn.
bool turnFewTimes(mlir::ModuleOp module);
/// Whether the form is for grids that leave a multiprocessor few programs.
bool hasFewPrograms(mlir::ModuleOp module);
/// Warpgroups that multiply of all programs that a multiprocessor gets, where it is known that
/// these are few.
std::optional<int64_t> warpgroupsOfFewPrograms(mlir::ModuleOp module);
/// Registers of a result that comes while another is worked on (EarlyDots.cpp): a form with less
/// room for each thread waits for it later.
int64_t registersOfEarlyResults(mlir::ModuleOp module);
/// Multiply-adds of a turn's products for each element of the largest that begins anew in it, and
/// is worked on before another takes it, in the loop with fewest; many where there is no such loop.
int64_t productsOfScore(mlir::ModuleOp module);
/// Whether a loop works on what one product gives before another takes it.
bool hasScores(mlir::ModuleOp module);
/// Whether a loop multiplies what another of its products gave, once something has been done with
/// it: threads hold all of that beside what they add up.
bool multipliesScores(mlir::ModuleOp module);
/// Whether a loop has several products of warpgroups in a turn.
bool chainsProducts(mlir::ModuleOp module);
bool copiesByThreads(mlir::ModuleOp module);
/// Whether rings bring nothing to the loops that multiply, only what is read before and behind
/// them.
bool ringsMissLoops(mlir::ModuleOp module);
/// Whether what rings bring is read turn by turn of some loop, perhaps one around those that
/// multiply.
bool ringsStandInLoops(mlir::ModuleOp module);
bool multipliesInLoops(mlir::ModuleOp module);

} // namespace tile

#endif // TILE_PASSES_FACTS_FORMFACTS_H
