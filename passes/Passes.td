//===- Passes.td - the project's passes -----------------------------------===//
//
// Each stands in the file of its room, beside its sources. Here are all of them, and the pass
// that runs the steps of others. Their order, and why, is in Pipelines.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_PASSES
#define TILE_PASSES_PASSES

include "passes/facts/Passes.td"
include "passes/tile/Passes.td"
include "passes/memory/Passes.td"
include "passes/layouts/Passes.td"
include "passes/copies/Passes.td"
include "passes/schedule/Passes.td"
include "passes/lowering/Passes.td"

def FitSharedMemoryPass : TilePass<"tile-fit-shared-memory", "::mlir::ModuleOp"> {
  let summary = "lay a kernel out in the largest form that a thread block has the memory for";
  let description = [{
    - **Needs**: the tile level, after simplification.
    - **Guarantees**: what its steps (`buildCtaSteps`) make of the kernel, with all that was
      asked for if that fits the shared memory that a thread block of the target can have;
      else with the first of these that does, or the last: groups of warps do not take
      blocks by turns, since each stages what it stores beside the others; copies run fewer
      stages ahead, one less at a time, down to two; threads store results that TMA would
      (`tile.no_tensor_stores`), if operands still come ahead then; products are
      computed by warps, from registers, since warpgroups read their operands in shared
      memory. One stage that was asked for is as many as by default, if that fits and keeps half
      of the warpgroups that would compute at once, unless its loops turn twice at most. Where
      threads copy ahead, and more warpgroups compute at once with fewer stages and no warps that
      only copy, there are fewer and none, as long as about as much is on its way; grids that
      leave a multiprocessor no more programs than it had room for before take the form with all
      stages (`tile.gains_ahead`). Slots are compared alike where stages are as many as were asked
      for: none for products in flight (`tile.no_spare_slots`) where more warpgroups compute at
      once then, and one less for what threads read into registers (`tile.tight_slots`) where far
      more programs have room, all of which are few warps, and their threads have the registers; or
      one slot alone, filled again behind what reads it (`tile.refilled_slots`), where twice as many
      programs have room.
      Programs of one warpgroup that may leave before a loop that only adds up products stay so
      small, and none of their warps only copy. Where warps multiply for themselves, twice as
      many share blocks of which they would hold more than there are registers, up to eight; what of
      few results they would do twice, or add up, takes from what twice the warps are worth. What is
      exchanged outside of loops that multiply goes in parts (`tile.exchange_bytes`) where more
      warpgroups compute at once then. Remarks are those of the form that is kept.
    - **Never**: looks at how the steps work, nor keeps anything of a form that did not fit.
  }];
  let options = [
    Option<"smaller", "smaller", "bool", "/*default=*/true", "takes a smaller form where one does not fit">
  ];
  let counts = [Count<"formsTried", "forms of kernels that were laid out">];
}

#endif // TILE_PASSES_PASSES
