//===- LintIntervals.h - rough bounds of integers ---------------*- C++ -*-===//
//
// What a lint may say of a number without running anything: intervals that are rough on purpose. A
// program id may be anything, so what depends on it is never said to hold.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LINTINTERVALS_H
#define TILE_PASSES_LINTINTERVALS_H

#include "ir/TileDialect.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace tile::linting {

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
  /// Whether both ends of a value's interval are values that it has.
  static bool isExact(mlir::Value value);

private:
  Interval compute(mlir::Value value, unsigned bits);
  Interval arithmetic(mlir::Operation *op, unsigned bits);
  Truth comparison(mlir::arith::CmpIOp op);
  llvm::DenseMap<mlir::Value, Interval> known;
};

/// The width of an integer, or of a block's elements; 0 if they are none.
unsigned bitsOf(mlir::Value value);
/// Operations that only rename or repeat elements.
bool isMovement(mlir::Operation *op);
/// The value without what only repeats or widens it.
mlir::Value strip(mlir::Value value);

} // namespace tile::linting

#endif // TILE_PASSES_LINTINTERVALS_H
