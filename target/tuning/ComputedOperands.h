//===- ComputedOperands.h - numbers: what products compute of operands ----===//
//
// What the model of ShareProducts.cpp counts for each element of an operand that is computed where
// a product reads it: instructions of a thread, of which a multiprocessor does 128 in a cycle.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_COMPUTEDOPERANDS_H
#define TILE_TARGET_TUNING_COMPUTEDOPERANDS_H

namespace tile {

/// Of an H200: products of 8192 rows in blocks of 256 x 128 took so much longer than of stored
/// operands that 7 to 10 instructions an element account for it, 5 more than what is computed
/// (docs/rationale.md).
struct ComputedOperandTuning {
  double slotsToMove = 5;     ///< from memory or shared memory, and to shared memory
  double slotsToGather = 2;   ///< places in vectors, for each of them
  double slotsOfSimple = 1;   ///< sums, bits, comparisons, conversions
  double slotsOfSpecial = 6;  ///< a special function and what is around it
  double slotsOfCurve = 20;   ///< erf, pow, philox, quotients of integers
  double slotsOfSeries = 100; ///< lgamma
  double perCycle = 128;      ///< that a multiprocessor does
  /// Of an operand that is an array, and that threads multiply: a copy, its address and its mask.
  double slotsToCopy = 5;
  double warpsToFill = 8; ///< that it takes for that: each waits for itself every other cycle
  /// Slots of the chip for each byte that its memory moves in the same time: an H200 has 30e12 in a
  /// second, and 4.2e12 bytes. Other chips with such memory have 6 to 11, those of GDDR more.
  double slotsPerByte = 7;
  /// What is stored has so many times the bytes that it is computed of, at most: codes of two bits
  /// become numbers of 16. Judgement.
  double mostGrowth = 8;
  /// An operand is stored if this part of the time remains: it takes memory. Judgement.
  double worthIt = 0.95;
};

inline constexpr ComputedOperandTuning kComputedOperands;

} // namespace tile

#endif // TILE_TARGET_TUNING_COMPUTEDOPERANDS_H
