//===- Scatter.h - numbers: rows that are added where numbers say ----------===//
//
// What the model of ShareProducts.cpp counts for atomic additions in the place of a product. Of an
// H200, where no other chip was measured.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_SCATTER_H
#define TILE_TARGET_TUNING_SCATTER_H

#include <cstdint>

namespace tile {

struct ScatterTuning {
  /// Bytes of memory that one addition of f32 takes as long as: the sum is read and written, in
  /// the L2 cache or not. Judgement.
  double bytesOfAddition = 16;
  /// Microseconds that an addition to a row waits for those before it. Judgement.
  double microsecondsOfAddition = 0.01;
  /// A product is replaced if this part of its time remains: its sums have one order. Judgement.
  double worthIt = 0.7;
  /// Columns and elements of a program's block. Judgement.
  int64_t columns = 512, elements = 4096;
};

inline constexpr ScatterTuning kScatter;

} // namespace tile

#endif // TILE_TARGET_TUNING_SCATTER_H
