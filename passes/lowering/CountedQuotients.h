//===- CountedQuotients.h - quotients of neighbours, counted up -*- C++ -*-===//
//
// A thread divides positions that differ by constants:
//
//   row, column = i // n, i % n
//
// The quotient and the remainder of one of them give those of the others, without a division:
//
//   i + 1:  column + 1, and where that is n, the next row's column 0
//   i + d:  column + d % n, row + d // n; where the column has reached n, that much less and a row
//   more
//
// Contract. Needs: signed numbers of 32 or 64 bits, none of which is below zero or wraps around, as
// places in blocks that programs count, over one number that only the launch knows, of either sign.
// Guarantees: the quotients and remainders that divisions give. Over zero they are some numbers, as
// they are there. Never: takes more instructions than the divisions.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_COUNTEDQUOTIENTS_H
#define TILE_PASSES_LOWERING_COUNTEDQUOTIENTS_H

#include "passes/lowering/core/Core.h"
#include <map>
#include <set>

namespace tile::lowering {

/// One division or remainder of a block: all that are to be divided are added, then lowered.
class CountedQuotients {
public:
  CountedQuotients(Core &core, mlir::Operation *division);
  void add(mlir::Value dividend, mlir::Value divisor);
  /// Null: nothing is gained.
  mlir::Value lower(mlir::Value dividend, mlir::Value divisor);

private:
  struct Result {
    mlir::Value quotient, remainder;
  };
  /// A distance over the divisor. The remainder may be the divisor's magnitude: it is added to one
  /// that is less.
  struct Step : Result {
    mlir::Value quotientAndOne; ///< one more in the divisor's direction
  };
  struct Divisor {
    mlir::Value value;     ///< of the dividends' type
    mlir::Value number;    ///< of the remainders' type: 32 bits where it has no more
    mlir::Value magnitude; ///< of `number`
    std::map<int64_t, Step> steps;
  };
  /// Of positions that differ by constants, over one number: the constants, and by which distances
  /// it pays to go from one to the next.
  struct Group {
    std::set<int64_t> offsets;
    std::optional<std::set<int64_t>> distances;
    /// The offset to come from, and the distance; nothing where it is to be divided.
    std::optional<std::pair<int64_t, int64_t>> stepTo(int64_t offset) const;
    void chooseDistances(bool isWide);
  };
  Divisor &divisorOf(mlir::Value value);
  const Step &stepOf(int64_t distance, Divisor &by);
  Step twice(const Step &step, const Divisor &by);
  Step makeStep(Result of, const Divisor &by);
  Result stepped(const Result &from, const Step &step, const Divisor &by);
  Result divided(mlir::Value dividend, const Divisor &by);
  Result resultAt(Affine at, Divisor &by, const Group &group);

  Core &core;
  mlir::OpBuilder &b;
  bool isOfPositions = false, isRemainder = false;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, Group> groups;
  llvm::DenseMap<mlir::Value, Divisor> divisors;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_COUNTEDQUOTIENTS_H
