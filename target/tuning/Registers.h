//===- Registers.h - numbers: registers that the assembler takes and is given ---===//
//
// Registers. Part of Tuning.h, which says what these numbers are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_REGISTERS_H
#define TILE_TARGET_TUNING_REGISTERS_H

#include <cstdint>

namespace tile {

struct RegisterTuning {
  /// Turns of a loop that NVIDIA's assembler (12.8 to 13.0) makes one of, and registers of a thread
  /// that they want beside what is carried, what is loaded and what is computed of it.
  int64_t turnsOfAssembler = 4, registersBesideTurns = 24;
  /// One in so many of a thread's registers may hold what loops that were joined (tile-join-loops)
  /// compute with in a turn, beside what they carry. Judgement.
  int64_t joinedPartOfRegisters = 4;

  /// Of a thread that copies for itself beside products: addresses.
  int64_t registersOfAddresses = 24;
  /// Of a thread that only copies, beside two warpgroups that compute, and beside more of them;
  /// and the most that one of those is given. Judgement.
  unsigned registersOfCopier = 40, registersOfCopierBesideMany = 32, mostRegistersDealt = 240;
  /// Of a thread that has many loads under way, beyond the values that are alive: groups of
  /// four that are not aligned as they come, addresses of its own. And programs on a
  /// multiprocessor: fewer wait for memory, then compute, in step, and get no launch bound.
  int registersOfLoads = 8;
  int boundFewestPrograms = 3;
  /// Of the programs that fit if loads of straight code go behind uses of others, those that have
  /// to if all start together: what a program then waits less for is had at least twice. Judgement.
  double togetherLeastPrograms = 0.75;
  /// Cycles that a multiprocessor's programs compute, from which on fewer of them that load all at
  /// once are enough: some two or three times what a load from memory takes. A step of an 8-bit
  /// optimizer: 3,700 cycles by four programs; seven that waited four times took 218 us in place of
  /// 173. Judgement.
  double coveredCycles = 2500;
  /// A bound of several programs, of what multiplies, leaves at least one in so many of the
  /// registers that single values take in loops. They count addresses, which the assembler computes
  /// anew: of fifteen public kernels with products those that would take 224 and less were
  /// assembled for 128 without spills, one of 233 with 160 bytes of them, one of 338 with 600.
  double boundFewestRegisters = 1.75;
  /// Of the registers that two programs leave, what straight code takes by the count at most where
  /// it does with those. Convolutions over time by 1024 threads: counted 45 of 32, 34 to 38 without
  /// a bound, with it 32 and none spilled; 27 us in place of 33 on an H100.
  double boundStraightRegisters = 1.45;
  /// Of the registers that three programs leave beside warps that copy, what threads take
  /// by the count at most, in their loops. Of 98 launches of kernels with products none of up
  /// to 1.46 spilled for such a bound, and all of 1.6 and more did that had a need for their
  /// registers.
  double boundRolesRegisters = 1.45;
  /// Of those that four programs leave: with less, threads wait for what they compute anew, which a
  /// fourth program does not make up for (gradients of weights by 4 % slower, 90 registers for 93).
  double boundManyRolesRegisters = 1.25;
  /// Of the registers that few programs leave, what a turn that loads all at once takes by the
  /// count at most: a sum of rows by indices is counted 130 to 140, and takes 114. Machine code of
  /// public kernels: a count of 1.22 spills.
  double boundFewRegisters = 1.1;
  /// Instructions of the shortest kernels that were seen to get 32 registers, and to spill all
  /// else, where the assembler's first attempt failed.
  unsigned boundLongInstructions = 2000;
};

} // namespace tile

#endif // TILE_TARGET_TUNING_REGISTERS_H
