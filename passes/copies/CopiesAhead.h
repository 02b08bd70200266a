//===- CopiesAhead.h - what one thread copies for iterations to come --------===//
//
// Where no warp has nothing to do but to copy, one of the threads that compute starts the
// copies of a loop: those of the first iterations before the loop, and in each iteration,
// behind the release of a slot, those of the iteration that uses the slot next.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_COPIES_COPIESAHEAD_H
#define TILE_PASSES_COPIES_COPIESAHEAD_H

#include "ir/CtaDialect.h"
#include "mlir/IR/IRMapping.h"
#include <functional>

namespace tile {

/// Whether one thread can compute `values` of later iterations of `loop`, which writes
/// through the pointers `written`, from the number of the iteration alone.
bool areScalarAhead(mlir::ValueRange values, mlir::scf::ForOp loop,
                    const llvm::DenseSet<mlir::Value> &written);

/// Whether so many steps of the loop may be more than its type holds.
bool mayPassTypeAhead(mlir::scf::ForOp loop, int64_t turns);

class CopiesAhead {
public:
  /// Acquires a slot, copies into it and commits, for the iteration whose values the map has.
  using Fill = std::function<void(mlir::OpBuilder &, mlir::IRMapping &)>;

  /// What `needs` depend on can be computed ahead (areScalarAhead).
  CopiesAhead(mlir::scf::ForOp loop, int32_t stages, mlir::SmallVector<mlir::Value> needs,
              Fill fill)
      : loop(loop), loc(loop.getLoc()), stages(stages), needs(std::move(needs)),
        fill(std::move(fill)) {}

  /// Starts the copies of the first iterations; `b` stands in front of the loop.
  void startFirst(mlir::OpBuilder &b);
  /// Starts those that come `stages` iterations later; `b` stands in the loop.
  void startNext(mlir::OpBuilder &b);

private:
  mlir::Value constant(mlir::OpBuilder &b, int64_t n);
  mlir::Value times(mlir::OpBuilder &b, mlir::Value n);
  void startIf(mlir::OpBuilder &b, mlir::Value from, mlir::Value turns);

  mlir::scf::ForOp loop;
  mlir::Location loc;
  int32_t stages;
  mlir::SmallVector<mlir::Value> needs;
  Fill fill;
};

/// What startNext has made behind `release`; null if nothing.
cta::SingleOp nextCopiesBehind(cta::RingReleaseOp release);

} // namespace tile

#endif // TILE_PASSES_COPIES_COPIESAHEAD_H
