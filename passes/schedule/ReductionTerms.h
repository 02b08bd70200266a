//===- ReductionTerms.h - results of reductions that are combined -*- C++ -*-===//
//
// What is made of a reduction before it is combined with something else, by the operation that its
// combiner is: another layout, more dimensions, copies. Several that are alike can be finished as
// one, when each thread has combined what it holds of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_SCHEDULE_REDUCTIONTERMS_H
#define TILE_PASSES_SCHEDULE_REDUCTIONTERMS_H

#include "passes/schedule/PartialReductions.h"
#include <optional>

namespace tile {

/// Whether both do the same with their operands: to be equal and to differ are one operation, and
/// two properties of it.
bool isSameKind(mlir::Operation *one, mlir::Operation *other);

struct ReductionTerm {
  ReduceOp reduce;
  llvm::SmallVector<mlir::Operation *> behind; ///< from its result to what is combined

  /// What `value`, which only `taker` needs, is: nothing unless the reduction stands in the block
  /// of `taker`, and is of one block by one operation, of the kind of `taker`.
  static std::optional<ReductionTerm> of(mlir::Value value, mlir::Operation *taker);

  /// Whether both can be finished as one.
  bool isLike(ReductionTerm other) const;
  /// How threads share the rows, if the parts of a result are no more registers of a thread than
  /// a value of type `taken` is, or a few.
  std::optional<PartialReduction> parts(mlir::Type taken) const;
  /// Makes of `whole`, the result of the reduction, what was made of it.
  mlir::Value makeBehind(mlir::OpBuilder &b, mlir::Value whole) const;
  /// Erases the reduction, and what was made of it, which nothing needs.
  void erase();
};

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_REDUCTIONTERMS_H
