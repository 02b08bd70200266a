//===- GroupTurns.h - groups of consumers take iterations by turns --------===//
#ifndef TILE_PASSES_SCHEDULE_GROUPTURNS_H
#define TILE_PASSES_SCHEDULE_GROUPTURNS_H

#include "ir/CtaDialect.h"

namespace tile {

inline constexpr int32_t kTurnGroups = 2;

/// Neighbouring operations of a block.
struct Section {
  mlir::Operation *first = nullptr, *last = nullptr;
  explicit operator bool() const { return first; }
};
/// What one group at a time does of an iteration: copies, waits and products; and stores,
/// with loads of what the loop stores.
Section productsOf(mlir::scf::ForOp tiles);
Section effectsOf(mlir::scf::ForOp tiles);

/// What a scalar that the loop carries grows by in every iteration: a value from
/// outside, or null.
mlir::Value growthOf(mlir::scf::ForOp tiles, mlir::BlockArgument arg);

/// Gives each group of the consumers of `roles` its share of the loop that
/// tile-alternate-tiles has marked, and makes them go through it by turns.
void takeTurns(cta::RolesOp roles, mlir::ValueRange rings);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_GROUPTURNS_H
