//===- Products.h - numbers: products, and what warps do beside them ------===//
//
// Part of Tuning.h, which says what these numbers are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_PRODUCTS_H
#define TILE_TARGET_TUNING_PRODUCTS_H

#include <cstdint>

namespace tile {

struct ProductTuning {
  //===--------------------------------------------------------------------===//
  // Results of products used under other products (tile-overlap-dots)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread that blocks may take there.
  int64_t mostRegistersUnderProducts = 212;
  /// Iterations that run together. The result of the last is used while nothing is in
  /// flight, but more of them did not make a product of 8-bit floats faster.
  unsigned turnsUnderProducts = 4;
  /// Registers of a thread for the result of the loop's one product, and for those of
  /// several: smaller ones leave room for a second thread block, which fills the gaps too.
  int64_t rotateLeastRegisters = 64;
  int64_t staggerLeastRegisters = 128;
  /// Registers that a thread wants beside the sum, the left operand and the other result of
  /// chained products. Hand-written attention: with 32 and more all compiled without spills,
  /// with 24 and less none did.
  int64_t registersBesideChain = 32;
  /// The same beside all that products of one turn hold at once, half of which is used up while the
  /// rest arrives: the gradients of attention (head size 128, 64 queries by 128 keys, two
  /// warpgroups) need 232 in all, and are not spilled.
  int64_t registersBesideEarlyProducts = 24;
  /// Cycles of the tensor core for one warpgroup's share of a product from which on
  /// warpgroups that take turns gain nothing from products in flight.
  int64_t longProductCycles = 512;

  //===--------------------------------------------------------------------===//
  // Groups of warps by turns (tile-alternate-tiles)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread for the sums of one loop, at most (the rest is for everything
  /// else) and at least (with fewer a block is done before the other group's results are).
  int64_t turnsMostSums = 192;
  int64_t turnsFewestSums = 128;
  /// Instructions of a thread between products and stores, at most: functions of sums take some
  /// 20 for each of 128 elements. Random numbers take 100.
  int64_t turnsMostWork = 5000;

  //===--------------------------------------------------------------------===//
  // Warps that only copy (tile-fit-shared-memory)
  //===--------------------------------------------------------------------===//

  /// Warpgroups that compute, of all programs on a multiprocessor, from which on more do not
  /// help: one for each of its tensor cores. Products of 13 tile sizes in 4 shapes on an H200:
  /// with roles and 2 warpgroups 0.59 to 0.91 of what 4 give without, with roles and 4
  /// warpgroups 1.0 to 1.05.
  int64_t enoughWarpgroups = 4;
  /// Where threads copy, fewer stages let more programs in, and less is on its way in each. Of what
  /// was, all of them together keep so much at least, and more where one program did not wait for
  /// its copies alone. 20 launches of public kernels on an H100: two programs with 0.67 to 1.3 of
  /// what one had are 1.1 to 1.4 times as fast; of two, three with 0.75 of it 1.3 times, with 0.67
  /// 0.8.
  double keptInFlight = 0.74, keptInFlightOfOne = 0.66;
  /// Registers of a thread of one warpgroup for blocks and what products want beside them, of forms
  /// that hold more than another: seven eighths of all, the rest is for indices and addresses.
  /// Judgement. No reason to have two warpgroups hold the same blocks, if no more programs fit so:
  /// three kernels of attention with more than that, but less than all, take 135, 213 and 413 us
  /// by four warps, with 44, 72 and 376 bytes of spills, and 149, 276 and 462 by eight (H200).
  int64_t mostRegistersOfWarpgroup = 223;
  /// What of eight warps is of use (ProductCycles) at least, where four would have too much in
  /// registers and two programs of them are as many. With 0.69 gradients of an attention in blocks
  /// of 32 x 32 took 846 us by eight and 535 by four (H200); 0.91 was not timed. Judgement.
  double roomierLeastUse = 0.75;

  //===--------------------------------------------------------------------===//
  // Threads that meet behind loops (tile-defer-reductions)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread for parts of one result that a loop carries, where the result itself
  /// takes fewer. A judgement.
  int64_t deferredLeastRegisters = 4;
  /// How far an exponent (of 2) may be above the maximum that sums are relative to before these are
  /// scaled. Attention on an H200: 6.5 % of its time is saved with 8, none with 0, at
  /// errors of 2.9e-4 in place of 2.3e-4 (docs/rationale.md).
  double mostAboveMaximum = 8;

  //===--------------------------------------------------------------------===//
  // Columns (tile-split-columns)
  //===--------------------------------------------------------------------===//

  /// Columns of a part: fewer are not worth an instruction of their own.
  int64_t splitFewestColumns = 16;
  /// The same where a product's columns are a power of two, but its result has no room beside sums.
  /// Each part reads the left operand from shared memory anew: below as many columns as an
  /// instruction has rows, that takes longer than multiplying. Products of 8-bit floats of 2048 x
  /// 2048 x 4096 whose results are added up in f32, in one, two and four parts (H100, us):
  /// 128 x 256 x 32 by 8 warps 259, 48, 53, 128 x 256 x 128 79, 26, 26, with scales of rows 93, 28,
  /// 29; 256 x 128 x 32 257, 48, 54; 64 x 256 x 128 by 4 warps and one that copies 36, 35, 29, with
  /// scales 50, 38, 32.
  int64_t splitSumsLeastColumns = 64;

  //===--------------------------------------------------------------------===//
  // Blocks part by part (tile-cut-blocks)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread that a part of a stored block takes, at most: what is loaded for it is
  /// under way at once. A first value, not compared with others.
  int64_t registersOfPart = 64;
};

} // namespace tile

#endif // TILE_TARGET_TUNING_PRODUCTS_H
