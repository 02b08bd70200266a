//===- LoopSlice.h - what of a loop's iteration can be computed early -----===//
#ifndef TILE_PASSES_FACTS_LOOPSLICE_H
#define TILE_PASSES_FACTS_LOOPSLICE_H

#include "ir/CtaDialect.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace tile {

/// The pointers that `loop` writes through, by stores or atomic operations; nothing if it does what
/// loads must not be moved across.
std::optional<llvm::DenseSet<mlir::Value>> writtenIn(mlir::scf::ForOp loop);

/// Whether `v` is the same in each turn of `loop`, wherever it is computed.
bool isInvariant(mlir::Value v, mlir::LoopLikeOpInterface loop);

/// What is added to a value that a loop carries, or taken from it, in every iteration.
struct Gain {
  mlir::Operation *op; ///< an addition or subtraction of numbers or pointers
  mlir::Value value;   ///< of its operands, what is added
};
/// The gains of `arg`, the last first, if `loop` does nothing else with it on the way to the
/// next iteration, and these are few.
std::optional<llvm::SmallVector<Gain, 2>> gainsOf(mlir::scf::ForOp loop, mlir::BlockArgument arg);

/// What values of a loop's body depend on: operations of the body, and what the
/// loop carries for them. A second instance of these can run iterations ahead.
class Slice {
public:
  /// Loads that may see what the loop stores through `written` (maySeeStores) cannot run ahead.
  Slice(mlir::scf::ForOp loop, const llvm::DenseSet<mlir::Value> &written)
      : loop(loop), written(written) {}

  /// Adds what `values` (null ones are skipped) depend on; changes nothing and
  /// returns false if that cannot run ahead.
  bool add(mlir::ValueRange values);

  llvm::SetVector<mlir::Operation *> ops;
  llvm::SetVector<unsigned> carried; ///< numbers of the loop's iteration arguments

private:
  bool canRunAhead(mlir::Operation *op);

  mlir::scf::ForOp loop;
  const llvm::DenseSet<mlir::Value> &written;
};

} // namespace tile

#endif // TILE_PASSES_FACTS_LOOPSLICE_H
