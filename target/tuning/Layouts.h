//===- Layouts.h - numbers: who holds which element, and ways between threads ---===//
//
// Part of Tuning.h, which says what these numbers are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_LAYOUTS_H
#define TILE_TARGET_TUNING_LAYOUTS_H

#include <cstdint>

namespace tile {

struct LayoutTuning {
  //===--------------------------------------------------------------------===//
  // Who holds which element (tile-assign-layouts)
  //===--------------------------------------------------------------------===//

  /// Bytes of contiguous memory that an instruction of a warp covers: with so many, no data
  /// are moved between threads for more.
  unsigned goodRunBytes = 64;
  /// Elements of a row that is reduced up to which 8, and up to which 16 of the lanes share it:
  /// fewer lanes take fewer shuffles, and 16 to 32 elements a thread keep enough in flight.
  int64_t rowOfEightLanes = 128, rowOfSixteenLanes = 512;
  /// Loads that all rows share, such as weights, from which on a thread that has fewer columns
  /// of more rows gains more, by loading and widening fewer of them.
  unsigned manySharedLoads = 2;
  /// Operations of an element: recomputing more costs more than moving the result.
  unsigned recomputeMostOperations = 48;
  /// Loads of a thread that has a row where it is needed: beyond, one exchange through shared
  /// memory is cheaper.
  unsigned repeatMostLoads = 32;
  /// The same of single numbers for runs of equal columns, beside products of a loop: eight of a
  /// block of 128 columns with scales for 16 or more took 0.73 to 0.94 of an exchange's time (4096
  /// cubed, 8 bits, H100).
  unsigned repeatMostRuns = 8;
  /// Rows and columns, at most, of what a thread computes by multiply-adds: of 4 by 4 each
  /// operand element serves four products. Lanes along the rows of such a product.
  int64_t scalarTile = 4;
  unsigned scalarLanesAcross = 8;
  /// Operand registers of such a thread, from which on they are read from shared memory, and of
  /// those that it then reads in one go; and steps in one go.
  int64_t scalarMostOperandRegisters = 96;
  int64_t stagedMostRegisters = 64;
  unsigned stagedMostSteps = 16;

  /// Cycles of an exchange between threads and of writing operands from squares, as a part of
  /// those of writing them from where they lie, from which on operands stay. An exchange takes
  /// shared memory and registers besides. On an H100 kernels with an eighth fewer cycles lost 1 to
  /// 2 %, some with a fifth fewer won 5.
  double worthExchange = 0.85;
  /// Instructions of a quotient or remainder of 32-bit integers, by a divisor that only the launch
  /// knows.
  double divisionInstructions = 16;
  /// Instructions that the index of a row costs a thread: compared and scaled in two dimensions.
  /// Judgement.
  double indexInstructions = 8;
  /// Accesses of a thread, from which on their addresses, two registers each, are to be constant
  /// distances apart. Judgement.
  int64_t manyAccesses = 32;
  /// Quarters of shared memory that operands may take which threads multiply from there: what else
  /// the kernel keeps there needs some, too. Judgement.
  int64_t stagedQuartersOfShared = 3;
  /// Registers of a thread from which on it counts when a block is read, behind which product or
  /// before; and of those, what the assembler does without where it is told how many programs there
  /// are to be: scales are read a few at a time, when it likes. Judgement.
  int64_t readLateLeastRegisters = 8, readLateSpared = 16;

  //===--------------------------------------------------------------------===//
  // Blocks kept packed (tile-narrow-live-ranges)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread that are kept across a reduction, from which on recomputing them
  /// pays, and operations of an element that it may cost.
  int64_t narrowFromRegisters = 48;
  unsigned narrowMostOperations = 10;
  /// What a function of the device library counts for there: the shortest, such as a hyperbolic
  /// tangent or a logarithm, are a dozen instructions and more.
  int64_t libraryFunctionOperations = 12;

  //===--------------------------------------------------------------------===//
  // Ways between threads (cta.convert_layout, tile.reduce, tile.scan)
  //===--------------------------------------------------------------------===//

  /// Cycles that a barrier, and the way through shared memory behind it, take at least; until
  /// the result of a shuffle, and of another instruction, is there. Estimates, to compare ways.
  double exchangeCycles = 60, shuffleCycles = 24, resultCycles = 4;
  /// Shuffles of a thread: with more, shared memory is cheaper: 16 bytes an instruction.
  unsigned mostShuffles = 16;
  /// Bytes of an exchange at a time, if it can be cut: more would cost other thread blocks
  /// their place.
  int64_t exchangeMostBytes = 32 << 10;
  /// Buffers of so many bytes at most go round a ring of so many; large buffers of one loop
  /// body lie side by side in so many.
  int64_t smallBufferBytes = 1024, smallBuffersBytes = 4096, loopBuffersBytes = 40 << 10;
  /// Independent sums of a thread that adds up its elements.
  unsigned sumsOfThread = 8;
  /// Bytes of partial results that a thread reads, if other lanes can read the rest.
  unsigned partialsOfLane = 16;
  /// Additions that take as long as a warp's load or shuffle, and as a division or a function.
  unsigned shuffleSlots = 4, longOpSlots = 8;
  /// Additions that warps must be spared for a branch around them to pay.
  unsigned branchSlots = 24;
};

} // namespace tile

#endif // TILE_TARGET_TUNING_LAYOUTS_H
