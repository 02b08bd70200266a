//===- Reach.h - how far passes look ----------------------------------------===//
//
// Bounds of searches along operands and users: between operations that stand further apart, or
// among more of them, a pass does not see what they have to do with each other, and takes the way
// that is always right. They keep compilations short, and are judgement: no chip asks for others
// (what was measured on one is in target/Tuning.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_REACH_H
#define TILE_PASSES_FACTS_REACH_H

#include <cstdint>

namespace tile::reach {

/// Elementwise operations between a result and where it is stored, or joined to larger blocks.
inline constexpr unsigned kChanges = 6;
/// Operations to where what is loaded is needed in some layout, and users looked at on the way.
inline constexpr unsigned kUsers = 7, kUsersSeen = 48;
/// The same of what is joined and stored: unpacking takes three operations for each doubling.
inline constexpr unsigned kJoined = 16;
/// Operations back to what has a layout already.
inline constexpr unsigned kOperands = 3;
/// Elementwise operations from one product to another that takes its result.
inline constexpr unsigned kProducts = 8;
/// Operations that a fact about a number is derived through: its sign, what divides it.
inline constexpr unsigned kFacts = 12;
/// Operations of a number that is computed once more, or whose value is to be known.
inline constexpr unsigned kScalars = 32;
/// Operations between a product and the conversions that its operands were widened by.
inline constexpr unsigned kWidened = 16;
/// Operations of a loop whose first turn is written once more, in front of it.
inline constexpr unsigned kRepeated = 64;
/// Choices between arrays that are told apart, one inside of the other.
inline constexpr unsigned kChoices = 3;
/// Operations that two pointers are compared through.
inline constexpr unsigned kPointers = 24;
/// Operations that are counted of what is computed for a row or column.
inline constexpr unsigned kComputed = 96;
/// Turns of a loop with a constant number of them, and operations of all, that are told apart: of
/// more the code is longer than what a loop costs.
inline constexpr int64_t kTurns = 32, kTurnsOperations = 512;
/// Turns of a loop over a side of a window, and operations of all, that are written out.
inline constexpr unsigned kWindow = 4;
inline constexpr int64_t kWindowOperations = 200;
/// Operations between an address, a mask or a sum and what a lint says of it.
inline constexpr unsigned kLints = 40;

} // namespace tile::reach

#endif // TILE_PASSES_FACTS_REACH_H
