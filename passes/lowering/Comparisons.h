//===- Comparisons.h - masks of positions from one difference -*- C++ -*-===//
#ifndef TILE_PASSES_LOWERING_COMPARISONS_H
#define TILE_PASSES_LOWERING_COMPARISONS_H

#include "passes/lowering/core/Core.h"
#include "llvm/ADT/SmallSet.h"

namespace tile::lowering {

/// Whether no element is below zero, whatever the arguments are: sums and products are taken
/// not to wrap around, as everywhere for positions. Nor is a part of such a sum below zero.
bool isPosition(mlir::Value v);

/// The comparisons of one operation: all are added, then lowered.
class Comparisons {
public:
  Comparisons(Core &core, mlir::arith::CmpIOp op);
  void add(mlir::Value l, mlir::Value r);
  /// Null: nothing is gained.
  mlir::Value lower(mlir::Value l, mlir::Value r);

private:
  /// The position, and what it is compared with.
  using Pair = std::pair<Affine, Affine>;
  /// What is compared by one difference.
  struct Shared {
    int64_t left = 0, right = 0; ///< least constants of either side
    unsigned count = 0;          ///< of different comparisons
    llvm::SmallSet<std::pair<int64_t, int64_t>, 8> seen;
    mlir::Value difference;
  };
  Pair pairOf(mlir::Value l, mlir::Value r) const;
  mlir::Value placeIn32Bits(mlir::Value d);
  mlir::Value difference(const Shared &s, Affine x, Affine y, mlir::Type type);

  Core &core;
  std::optional<mlir::LLVM::ICmpPredicate> predicate; ///< none: compared as they are
  bool swapped = false;   ///< what is on the left here is the right operand, a position
  bool both = false;      ///< the other side is a position, too
  bool isOfPlace = false; ///< asks which elements are at one place
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, Shared> shared;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_COMPARISONS_H
