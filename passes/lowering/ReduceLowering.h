//===- ReduceLowering.h - a reduction while it is being lowered -----------===//
//
// What is done is told in Reduce.cpp; what a thread does alone, in ReduceThread.cpp; results that
// lanes share out, in ReduceHalves.cpp; sums of one
// element, in ReducePick.cpp; elements that share a register, in ReduceWords.cpp; what warps leave
// for each other, in ReduceWarps.cpp and ReduceTogether.cpp; what it costs, in ReduceWork.h.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_REDUCELOWERING_H
#define TILE_PASSES_LOWERING_REDUCELOWERING_H

#include "passes/facts/Combiners.h"
#include "passes/facts/Speech.h"
#include "passes/lowering/ReduceWork.h"
#include "passes/lowering/core/Core.h"

namespace tile::lowering {

/// Shared memory for what warps leave of one operand.
int64_t partialBytes(mlir::Type element, int64_t results, unsigned warps);
/// One reduction while it is being lowered.
struct ReduceLowering : ReduceWork {
  Core &core;
  /// For each result element this thread holds: its registers along the axis.
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  llvm::SmallVector<llvm::SmallVector<int32_t>> keys; ///< coordinates without the axis
  llvm::SmallVector<Registers> acc;                   ///< [group * held + repeat][operand]
  unsigned held;                                      ///< repeats of each result in this thread
  /// Lanes that hold different repeats, each half of what it had, and the first that this one
  /// holds; null if there are none.
  unsigned sharedLanes = 0;
  mlir::Value firstHeld;
  /// Lanes that hold different results, each half of what it had parts of, and how far these are
  /// from the first ones, as a row-major index of results; null if there are none.
  unsigned halvedLanes = 0;
  int64_t halvedDistances[5] = {}; ///< for each lane bit
  mlir::Value halvedBy;
  /// Whether the combiner asserts or prints, and the bits of thread numbers in which threads differ
  /// that combine the same elements just now: one of them speaks.
  bool isHeard;
  int32_t copies;

  ReduceLowering(Core &core, ReduceOp op)
      : ReduceWork(op), core(core), held(repeats), isHeard(speaks(op.getCombine())),
        copies(core.copyBits(layout)) {}

  mlir::FailureOr<Registers> combine(mlir::ValueRange lhs, mlir::ValueRange rhs);
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
  /// `most` times at most.
  mlir::LogicalResult byHalves(unsigned mask, unsigned most = 5);
  void keepOnly(llvm::ArrayRef<unsigned> kept);
  /// Butterflies over the bits of `mask`, of results that lanes share out before and hand around
  /// afterwards as often as that is less work.
  mlir::LogicalResult sharedOut(unsigned mask);
  /// Takes `byHalves` back: each lane gets what those have that it shared the results out with.
  void handAround();
  /// Whether the lane is the second one of two that differ in `bit`.
  mlir::Value isSecondOf(unsigned bit);
  /// Over the bits of `mask` from the lowest up, so that what two lanes hold are neighbours. The
  /// lanes that have none of the bits get the result, and all others only if it is for all.
  mlir::LogicalResult overLanesInOrder(unsigned mask, bool isForAll = true);
  /// As long as a lane holds several repeats: the left one of two goes on with the first half of
  /// them, the right one with the second. Takes the bits that it has used from `mask`.
  mlir::LogicalResult shareRepeats(unsigned &mask);
  /// What the lane with `bit` clear has of two neighbours, and what the other has, combined in
  /// both; `own` is this lane's.
  mlir::FailureOr<Registers> ofNeighbours(const Registers &own, const Registers &other,
                                          mlir::Value isRight);
  /// One instruction in place of all butterflies, where the target has it.
  bool overWarpAtOnce(unsigned mask);
  std::optional<mlir::NVVM::ReduxKind> kindOfWarp(unsigned mask);
  /// Butterflies over the bits of `mask`; those that are in order, for the same lanes.
  mlir::LogicalResult overLanes(unsigned mask, bool isForAll = true);
  /// What the lane has of `own` whose number differs in `bit`; see ReduceWords.cpp.
  llvm::SmallVector<Registers> ofOtherLane(llvm::MutableArrayRef<Registers> own, unsigned bit);
  /// How many results have elements that share a register, if they are so many.
  unsigned sumsOfWord();
  /// Butterflies of whole registers, where the combiner takes bit by bit what lies several to one.
  bool overLanesInWords(unsigned mask);
  /// Where lanes that differ in bits of `mask` have zeros, but for one of them, at most, that is
  /// known by its number: what that one has. False where it is otherwise; see ReducePick.cpp.
  mlir::FailureOr<bool> pickLane(unsigned mask);
  /// One value for each group, where no other warp has a part of it.
  mlir::LogicalResult acrossRepeats();
  mlir::LogicalResult setResults();

  /// Shared memory for the partial results of warps: one run of them for each result, or one of
  /// all results for each warp.
  struct Partials {
    llvm::SmallVector<mlir::Value> bases; ///< for each operand
    unsigned warps;      ///< that have a part of a result; a repeat counts as more of them
    int64_t results = 0; ///< of all threads
    bool areByWarp = false;
  };
  mlir::LogicalResult acrossWarps();
  void leave(const Partials &partials, unsigned warpMask);
  /// Whether the results of a warp side by side take fewer cycles than those of all warps.
  bool isCheaperByWarp(const Partials &partials);
  double cyclesOfPartials(const Partials &partials, unsigned bytes);
  /// How many results further lanes write, for each of their bits.
  llvm::SmallVector<int64_t> writtenSteps();
  /// Results that lie side by side and that a thread has parts of, as far as it can write them,
  /// `bytes` each, at once.
  unsigned resultsAtOnce(const Partials &partials, unsigned bytes);
  /// Where what `part` has of `result` lies.
  mlir::Value placeOf(const Partials &partials, mlir::Value result, mlir::Value part);
  /// The row-major indices of the results that this thread needs; `keys` become theirs.
  llvm::SmallVector<mlir::Value> neededResults();
  mlir::LogicalResult takeUp(const Partials &partials);
  /// One result: what this thread reads of it, `own` parts from `first` on, combined.
  mlir::FailureOr<Registers> readParts(const Partials &partials, mlir::Value first, unsigned own);
  /// All threads share out the results, `threads` neighbours one, and hand them around in the
  /// shared memory from `offset` on.
  mlir::LogicalResult takeUpTogether(const Partials &partials, unsigned threads, int64_t offset);
  /// The results of all threads, side by side, that this thread needs.
  mlir::LogicalResult readWhole(const Partials &whole, llvm::ArrayRef<mlir::Type> types);
  /// The same in warps that have none of the bits of `idle`; the others get any numbers.
  mlir::LogicalResult takeUpInSome(const Partials &partials, unsigned idle);
  mlir::Value address(const Partials &partials, unsigned operand, mlir::Value index);
  /// Partial results of warps that lanes share out, so that all lanes get the same bits.
  mlir::LogicalResult overShares(unsigned lanes, bool isForAll);
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_REDUCELOWERING_H
