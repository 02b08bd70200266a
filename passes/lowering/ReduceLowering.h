//===- ReduceLowering.h - a reduction while it is being lowered -----------===//
//
// What is done is told in Reduce.cpp; what a thread does alone, in ReduceThread.cpp; what warps
// leave for each other, in ReduceWarps.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_REDUCELOWERING_H
#define TILE_PASSES_LOWERING_REDUCELOWERING_H

#include "passes/facts/Combiners.h"
#include "passes/lowering/Lowering.h"

namespace tile::lowering {

/// Shared memory for what warps leave of one operand.
int64_t partialBytes(mlir::Type element, int64_t results, unsigned warps);
/// In an ordered reduction: how many times the lanes and warps of the axis follow each other.
unsigned repeatsOf(const layout::LinearLayout &layout, unsigned axis);

/// One reduction while it is being lowered.
struct ReduceLowering {
  Lowering &l;
  ReduceOp op;
  const layout::LinearLayout &layout;
  unsigned axis;
  /// For each result element this thread holds: its registers along the axis.
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  llvm::SmallVector<llvm::SmallVector<int32_t>> keys; ///< coordinates without the axis
  bool isOrdered;
  unsigned repeats;                 ///< 1 unless ordered
  llvm::SmallVector<Registers> acc; ///< [group * repeats + repeat][operand]
  /// Lanes that hold different results, each half of what it had parts of, and how far these are
  /// from the first ones, as a row-major index of results; null if there are none.
  unsigned halvedLanes = 0;
  mlir::Value halvedBy;

  ReduceLowering(Lowering &l, ReduceOp op)
      : l(l), op(op), layout(cta::getLayout(op.getSrcs()[0].getType())), axis(op.getAxis()),
        isOrdered(needsOrder(op)), repeats(isOrdered ? repeatsOf(layout, axis) : 1) {}

  void groupRegisters();
  mlir::FailureOr<Registers> tree(llvm::SmallVector<Registers> level);
  /// Several independent chains of each sum, of which the first elements are left to be merged.
  /// Unlike in a tree, an element is not needed any more once it has been added, and a product is
  /// added in one instruction. All sums grow in the order of the operand's registers, in which they
  /// are loaded: sum after sum, most of what belongs to the last ones would wait in registers.
  mlir::LogicalResult chains(llvm::MutableArrayRef<llvm::SmallVector<Registers>> sums);
  mlir::LogicalResult withinThread();
  mlir::LogicalResult acrossLanes();
  /// The row-major index of a result among all of them.
  int64_t indexOf(llvm::ArrayRef<int32_t> key);
  /// The results in the order of those register bits that lead to another one, the index of each
  /// the bits' sum; nothing if they are not so many.
  llvm::SmallVector<unsigned> orderByBits();
  /// As long as lanes hold parts of two results: one of two lanes gets the first, the other one
  /// the second. What is left in front are `groups`, `keys` and `acc` of the first ones.
  mlir::LogicalResult byHalves(unsigned mask);
  void keepOnly(llvm::ArrayRef<unsigned> kept);
  /// Butterflies over the bits of `mask` from the lowest up, so that what two lanes hold are
  /// neighbours; both lanes combine the same two, in the same order.
  mlir::LogicalResult overLanesInOrder(unsigned mask);
  /// One instruction in place of all butterflies, where the target has it.
  bool overWarpAtOnce(unsigned mask);
  /// Butterflies over the bits of `mask`.
  mlir::LogicalResult overLanes(unsigned mask);
  /// One value for each group, where no other warp has a part of it.
  mlir::LogicalResult acrossRepeats();
  mlir::LogicalResult setResults();
  /// Whether results of butterflies are the same bits in all lanes.
  bool isOneCommutativeOperation();

  /// Shared memory for the partial results of warps, one run of them for each result.
  struct Partials {
    llvm::SmallVector<mlir::Value> bases; ///< for each operand
    unsigned warps; ///< that have a part of a result; a repeat counts as more of them
  };
  mlir::LogicalResult acrossWarps();
  void leave(const Partials &partials, unsigned warpMask);
  /// The row-major indices of the results that this thread needs; `keys` become theirs.
  llvm::SmallVector<mlir::Value> neededResults();
  mlir::LogicalResult takeUp(const Partials &partials);
  /// The bits of the warps that need not know the results: they are stored by others.
  unsigned warpsWithoutUse();
  /// Issue slots of a warp for all results that it takes up.
  unsigned costOfTakingUp(const Partials &partials);
  /// The same in warps that have none of the bits of `idle`; the others get any numbers.
  mlir::LogicalResult takeUpInSome(const Partials &partials, unsigned idle);
  mlir::Value address(const Partials &partials, unsigned operand, mlir::Value index);
  /// Partial results of warps that lanes share out, so that all lanes get the same bits.
  mlir::LogicalResult overShares(unsigned lanes);
  /// Issue slots of a warp for what combines two elements.
  unsigned costOfCombining();
  /// ... for combining the results of `warps` warps, of which each lane reads `own`.
  unsigned costOfSharing(unsigned warps, unsigned own);
  /// The bits of the lanes that need the same result.
  unsigned lanesOfOneResult();
  /// The bits of the lanes that share out the results of `warps` warps, of those that have the
  /// same row: of one operation, as few as leave each lane `Tuning::partialsOfLane` bytes; of
  /// more, as many as make it least work.
  unsigned lanesToShare(unsigned warps);
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_REDUCELOWERING_H
