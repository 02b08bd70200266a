//===- Tuning.h - numbers that were measured, by chip ---------------------===//
//
// Heuristics of passes have their numbers here: each says what it is in, what was measured,
// and where. What a chip *has* (memory, registers, instructions) is in Target.h and
// Devices.h; what it *likes* is here. A chip nobody has measured is given the numbers of
// the nearest that somebody has.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_H
#define TILE_TARGET_TUNING_H

#include <cstdint>

namespace tile {

struct Target;

struct Tuning {
  //===--------------------------------------------------------------------===//
  // Rows brought to the L2 cache for programs to come (tile-prefetch-programs)
  //===--------------------------------------------------------------------===//

  /// Bytes on their way ahead of the programs that load them, with what is stored until
  /// then; 0: no rows are asked for. Softmax and layer norm of 4 to 32 KB rows on an H200.
  int64_t prefetchAheadBytes = 0;
  /// Programs that load fewer bytes spend their time being started.
  int64_t prefetchLeastBytes = 2048;

  //===--------------------------------------------------------------------===//
  // What all programs read, copied early (tile-early-copies)
  //===--------------------------------------------------------------------===//

  /// Bytes of a thread: as many programs as registers allow fit if it takes no more.
  int64_t earlyBytesOfThread = 128;
  /// One block of at most so many bytes, copied by at least so many threads, is better
  /// brought past the first cache (RMS norm of 4096 and 8192 elements on an H200: 1 to
  /// 2.5 %); two blocks, larger ones and those of fewer threads are not (up to 1.5 %). The
  /// reason is not known. No threads: never.
  int64_t earlyMostBytesPastCache = 16 << 10;
  int64_t earlyFewestThreadsPastCache = INT64_MAX;

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

  //===--------------------------------------------------------------------===//
  // Warps that only copy (tile-fit-shared-memory)
  //===--------------------------------------------------------------------===//

  /// Warpgroups that compute, of all programs on a multiprocessor, from which on more do not
  /// help: one for each of its tensor cores. Products of 13 tile sizes in 4 shapes on an H200:
  /// with roles and 2 warpgroups 0.59 to 0.91 of what 4 give without, with roles and 4
  /// warpgroups 1.0 to 1.05.
  int64_t enoughWarpgroups = 4;

  //===--------------------------------------------------------------------===//
  // Stages
  //===--------------------------------------------------------------------===//

  /// Of a ring of operands where the number is left to the compiler.
  int32_t mostOperandStages = 8;
  /// Of a ring of rows: slots beyond these only make the kernel's start longer.
  int32_t mostRowStages = 64;
  /// With fewer slots than this, copies do not keep up with products.
  uint32_t fewestSlots = 3;

  //===--------------------------------------------------------------------===//
  // Rows by bulk copies (tile-pipeline-loads)
  //===--------------------------------------------------------------------===//

  /// Shorter rows (bytes), and more of them, are not worth a copy each.
  int64_t bulkLeastRowBytes = 256;
  int64_t bulkMostRows = 32;
};

/// The row for a target.
const Tuning &tuningOf(const Target &target);

} // namespace tile

#endif // TILE_TARGET_TUNING_H
