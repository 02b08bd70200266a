//===- Pipeline.h - what loops load, iterations ahead ---------------------===//
#ifndef TILE_PASSES_COPIES_PIPELINE_H
#define TILE_PASSES_COPIES_PIPELINE_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/memory/Scratch.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

/// A load that becomes a copy.
struct Copy {
  LoadOp load;
  llvm::SmallVector<TransOp, 1> transpositions; ///< that the block goes through first
  mlir::Value value;                            ///< the block behind them
  cta::BufferType buffer;
  unsigned vector = 1;  ///< elements of one cp.async
  unsigned maskRun = 1; ///< of which so many are known to share a mask
  mlir::Value slots;

  /// Whether matrix instructions read the block where it was copied to.
  bool isReadInPlace() const;
  /// Whether those that read `stage` can: products may want one block in different images.
  bool isReadInPlace(cta::StageOp stage) const;
  /// Whether those that want the block transposed can: matrix instructions turn 16-bit elements.
  bool isReadTurned(TransOp trans) const;
  int64_t bytes() const { return lowering::slotStride(buffer); }
};

/// Whether threads that multiply without matrix instructions read both operands of `dot` where
/// they are copied to, each what it multiplies next: no thread could hold all of them.
bool readsCopies(DotOp dot);

/// What is done for one loop.
struct Pipeline {
  mlir::scf::ForOp loop;
  llvm::SmallVector<Copy, 2> copies;
  /// What the copies' addresses and masks depend on: operations of the body, and
  /// what the loop carries for them.
  llvm::SetVector<mlir::Operation *> ahead;
  llvm::SetVector<unsigned> carried;
  /// Those of `ahead` that depend on loads.
  llvm::DenseSet<mlir::Operation *> late;
  /// Products by multiply-adds that read their operands where they are copied to.
  llvm::DenseSet<mlir::Operation *> multiplied;
  int32_t stages = 1;
  /// Products may be under way while the next iteration fills a slot: not theirs.
  bool hasSpare = false;
  /// Threads hold what they read of a slot before it is filled again, in the same iteration: one
  /// slot less.
  bool isTight = false;
  /// Each copy has one slot, which is filled again for the next iteration behind what reads it.
  bool isRefilled = false;

  int32_t slots() const { return slotsOf(stages); }
  int32_t slotsOf(int32_t ofStages) const {
    return isRefilled ? 1 : ofStages + int32_t(hasSpare) - int32_t(isTight);
  }
  int64_t slotBytes() const {
    int64_t sum = 0;
    for (const Copy &copy : copies)
      sum += copy.bytes();
    return sum;
  }
};

/// Whether there is a product in the loop itself, not in one inside it.
bool hasProducts(mlir::scf::ForOp loop);
/// Whether products multiply what comes from `v`, by way of a branch, too.
bool feedsProduct(mlir::Value v);

/// What can be copied ahead in `loop`, if anything; remarks say what cannot.
/// `onlyForProducts`: nothing but what the loop's products multiply.
std::optional<Pipeline> planPipeline(mlir::scf::ForOp loop, int32_t stages, bool onlyForProducts);

/// Lets the loop carry the pointers of rows that it copies where each thread has fewest of them.
void spreadRows(Pipeline &p);

/// Whether what threads read of the slots of `p` can be held by them: it is no more than blocks
/// that they read in each turn, and not taken from there by products step by step.
bool canBeTight(const Pipeline &p);
/// Lets threads read the slots `behind` an operation at the top of the loop, and fill them behind
/// that.
void holdReads(Pipeline &p, llvm::ArrayRef<cta::SlotOp> read, mlir::Operation *behind);

/// Whether what reads each copy, by itself or as an operand of a product, can be seen to be over
/// before the iteration is.
bool canBeRefilled(const Pipeline &p);
/// The last operation of the loop's body that may read `copied`, which is a slot or the block that
/// was loaded; null if that is not known.
mlir::Operation *lastReader(mlir::Value copied, mlir::Block *body);
/// Lets the threads read the slot as late as may be, and moves it to where they do so first.
void readLate(cta::SlotOp slot);

/// What users find instead of the loaded block: `slot`, or what they read of it. The load is gone.
void readFromSlot(Pipeline &p, Copy &c, mlir::Value slot);

/// Rewrites the loop: what is copied is so `p.stages - 1` iterations before it is used. `p.loop`
/// becomes the loop that carries the slots. Gives the loads of single numbers in each turn that the
/// copies right behind a product wait for: they want to be loaded a turn ahead.
llvm::SmallVector<LoadOp> startAhead(Pipeline &p);

} // namespace tile

#endif // TILE_PASSES_COPIES_PIPELINE_H
