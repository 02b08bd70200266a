//===- Tuning.cpp - numbers that were measured, by chip -------------------===//
#include "target/Tuning.h"
#include "target/Target.h"

using namespace tile;

/// The numbers that no chip has shown to be wrong.
static constexpr Tuning general;

/// Measured on an H200 (docs/rationale.md).
static constexpr Tuning hopper = [] {
  Tuning t;
  // An H200 gains most with 16 MB, an H100, whose cache is smaller, with 6 to 8.
  t.prefetchAheadBytes = 12 << 20;
  t.earlyFewestThreadsPastCache = 256;
  return t;
}();

/// Nothing was measured. GeForce chips have another memory, and rows are not asked for
/// there ahead of time.
static constexpr Tuning geforceBlackwell = [] {
  Tuning t = hopper;
  t.prefetchAheadBytes = 0;
  return t;
}();

const Tuning &tile::tuningOf(const Target &target) {
  if (target.capability >= 120)
    return geforceBlackwell;
  return target.capability >= 90 ? hopper : general;
}
