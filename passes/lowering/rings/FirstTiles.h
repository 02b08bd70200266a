//===- FirstTiles.h - what copies bring first, asked for early --*- C++ -*-===//
//
// Between two kernels of few programs memory is idle: the last programs of one end, the next kernel
// is told, and what its first copies bring is on its way as long as that of every copy. Where a
// kernel follows another (`tile.follows`), its producer asks the L2 cache for these tiles before it
// waits for the grids before it. That reads nothing: what other grids write meanwhile is seen by
// the copies, which come behind the wait. So it does not matter who writes the arrays.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_RINGS_FIRSTTILES_H
#define TILE_PASSES_LOWERING_RINGS_FIRSTTILES_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/lowering/core/Core.h"
#include "llvm/ADT/SetVector.h"

namespace tile::lowering {

class FirstTiles {
public:
  /// Of the producer's first loop the turns that find slots empty, without copies whose place
  /// depends on memory or on what the loop carries. None where something touches memory before.
  explicit FirstTiles(cta::RolesOp roles);
  bool any() const { return turns > 0 && !copies.empty(); }
  /// Whether `op` is the loop before which they are to be asked for.
  bool standBefore(mlir::Operation *op) const { return any() && op == loop; }
  /// Asks for them, as far as the loop goes, here. `lowerOp` lowers what a place is computed of.
  mlir::LogicalResult ask(Core &core,
                          llvm::function_ref<mlir::LogicalResult(mlir::Operation *)> lowerOp);

private:
  bool collect(mlir::Value v);
  void countTurns();

  mlir::scf::ForOp loop;
  int64_t turns = 0;
  llvm::SmallVector<cta::RingCopyOp> copies;
  llvm::SetVector<mlir::Operation *> ops; ///< of the loop, which the places are computed by
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_RINGS_FIRSTTILES_H
