//===- Intervals.h - rough bounds of integers -------------------*- C++ -*-===//
//
// What can be said of a number without running anything: intervals that are rough on purpose, and
// wide where arithmetic may overflow. A program id may be anything, so what depends on it is never
// said to hold. Of a loop's counter nothing is known but what is assumed.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_INTERVALS_H
#define TILE_PASSES_FACTS_INTERVALS_H

#include "ir/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace tile {

/// Values a signed integer may have.
struct Interval {
  int64_t low, high;
  bool within(unsigned bits) const {
    int64_t limit = bits >= 64 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
    return low >= -limit - 1 && high <= limit;
  }
};

/// True, false or not known.
using Truth = std::optional<bool>;

class Intervals {
public:
  Interval of(mlir::Value value);
  Truth truth(mlir::Value mask);
  Truth comparison(mlir::arith::CmpIOp op);
  void assume(mlir::Value value, Interval interval) { known[value] = interval; }
  /// Whether both ends of a value's interval are values that it has.
  static bool isExact(mlir::Value value);

private:
  Interval compute(mlir::Value value, unsigned bits);
  Interval arithmetic(mlir::Operation *op, unsigned bits);
  llvm::DenseMap<mlir::Value, Interval> known;
};

/// Turns of `loop`, at most, as far as anything bounds them.
uint64_t mostTurns(mlir::scf::ForOp loop);
/// The width of an integer, or of a block's elements; 0 if they are none.
unsigned bitsOf(mlir::Value value);
/// Operations that only rename or repeat elements.
bool isMovement(mlir::Operation *op);
/// The value without what only repeats or widens it.
mlir::Value strip(mlir::Value value);

} // namespace tile

#endif // TILE_PASSES_FACTS_INTERVALS_H
