//===- Tuning.h - numbers that were measured, by chip ---------------------===//
//
// Heuristics of passes have their numbers here: each says what it is in, and what was
// measured, and where, if it was: the others are somebody's judgement. What a chip *has* (memory,
// registers, instructions) is in Target.h and Devices.h; what it *likes* is here. A chip nobody has
// measured is given the numbers of the nearest that somebody has.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_H
#define TILE_TARGET_TUNING_H

#include "target/tuning/Copies.h"
#include "target/tuning/Functions.h"
#include "target/tuning/Launches.h"
#include "target/tuning/Layouts.h"
#include "target/tuning/Products.h"
#include "target/tuning/Registers.h"

namespace tile {

struct Target;

/// A row of the table. Its columns stand by what they are for in target/tuning/.
struct Tuning : CopyTuning,
                ProductTuning,
                LayoutTuning,
                RegisterTuning,
                LaunchTuning,
                FunctionTuning {};

/// The row for a target.
const Tuning &tuningOf(const Target &target);

} // namespace tile

#endif // TILE_TARGET_TUNING_H
