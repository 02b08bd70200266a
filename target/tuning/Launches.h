//===- Launches.h - numbers: how long launches take -----------------------===//
//
// Part of Tuning.h, which says what these numbers are. A launcher without LLVM includes this file
// alone.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_LAUNCHES_H
#define TILE_TARGET_TUNING_LAUNCHES_H

#include <cstdint>

namespace tile {

struct LaunchTuning {
  //===--------------------------------------------------------------------===//
  // How long a launch takes, to compare configurations (compiler/Estimate)
  //===--------------------------------------------------------------------===//

  /// Seconds until a kernel runs, and after it; until a program's first loads are there, and its
  /// stores are gone; until a load of a later turn is there; what starting a program takes of a
  /// multiprocessor. Of an H100, about; the loads by the times below.
  double launchSeconds = 2e-6, programSeconds = 1.2e-6, loadSeconds = 1e-6, startSeconds = 0.05e-6;
  /// The share of its data sheet that memory reaches.
  double memoryShare = 0.92;
  /// Turns of a loop whose number nothing is known of.
  double unknownTurns = 8;
  /// Registers of a thread beside those of its blocks; warps that keep the tensor cores busy.
  int registersBesideBlocks = 32, enoughWarps = 8;
  /// Warps of a multiprocessor, fewer than which cannot keep memory busy by themselves. Judgement.
  int warpsForMemory = 16;
  /// Columns that an instruction of warpgroups takes as long for as for all else of it. 352 times
  /// on an H100: products of 16-bit floats of eleven shapes in two orders, sixteen configurations
  /// each.
  int columnsBesideProduct = 80;
  /// The share of the tensor cores' peak that instructions of warps reach, and where the chip has
  /// those of warpgroups, too, which alone reach it. Judgement.
  double warpsShareOfPeak = 0.85, warpsShareBesideWarpgroups = 0.6;
  /// The share of useful bytes below which requests are what is wrong. Judgement.
  double poorUseOfSectors = 0.6;
  /// A thread whose blocks do not fit its registers keeps them in memory: times as long.
  double spillFactor = 3;

  //===--------------------------------------------------------------------===//
  // Which form of a kernel a grid is launched in (runtime/GridForms.h)
  //===--------------------------------------------------------------------===//

  /// What a multiprocessor takes for programs that it runs at once, in halves of what one more of
  /// them adds: so much, and two for each. One takes as long as two: until then their waits do not
  /// overlap enough. Measured on an H100: attention of head 64 takes 30 us with one or two programs
  /// a multiprocessor, 38 with three and 44 with four, with head 128 36 with one or two and 42 with
  /// three; a product with three functions of each score 56, 74 and 95. Of all chips: a launcher
  /// has no table of them.
  static constexpr uint64_t besidePrograms = 3, fewestInTime = 2;
  /// What programs that share blocks gain by it, in many turns: 12 are through while 11 with blocks
  /// of their own are. The public tutorial's attention, full, 1024 and 4096, heads of 64 and 128,
  /// on an H200: 1.075 to 1.11.
  static constexpr uint64_t gainOfSharing[2] = {12, 11};
};

} // namespace tile

#endif // TILE_TARGET_TUNING_LAUNCHES_H
