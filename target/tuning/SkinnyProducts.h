//===- SkinnyProducts.h - numbers: products of few rows -------------------===//
//
// What the model of ShareProducts.cpp counts by, which few others need: for them there is no need
// to be in every row of Tuning.h, which says what these numbers are. Of an H200; other chips are
// counted by their share of its memory's speed.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_SKINNYPRODUCTS_H
#define TILE_TARGET_TUNING_SKINNYPRODUCTS_H

#include <cstdint>

namespace tile {

/// The model was compared with 51 forms of the products of a decoder block, of 1, 16 and 64 rows
/// (docs/rationale.md): the root of the mean square of its error is 8 %.
struct SkinnyProductTuning {
  /// Microseconds from the load of a block to its use while the chip is busy; of a second launch,
  /// in a graph; that every launch takes besides, so that gains are seen against the whole.
  double loadMicroseconds = 0.9, launchMicroseconds = 2, restMicroseconds = 2.5;
  /// What blocks load from the L2 cache, against what memory gives: an H200's 9.6 TB/s and 4.8.
  double cacheToMemory = 2;
  /// Limits that are close to each other are not reached: what counts is the root of the sum of
  /// such powers of them.
  double powerOfLimits = 8;
  /// Where memory is the limit, other blocks or more parts are worth it if this part of the time
  /// remains. With two programs for each block of 14336 x 4096, one row takes 29.8 us in place of
  /// 32.5; the model says 31.7 and 32.9.
  double worthIt = 0.97;
  /// Tenths of shared memory that turns on their way take where a multiprocessor has one program:
  /// what is staged of results takes the rest. Judgement.
  int64_t tenthsForTurnsAlone = 9;
};

inline constexpr SkinnyProductTuning kSkinnyProducts;

} // namespace tile

#endif // TILE_TARGET_TUNING_SKINNYPRODUCTS_H
