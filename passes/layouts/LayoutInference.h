//===- LayoutInference.h - a layout for every block -----------------------===//
//
// One forward walk decides where each block naturally lives. Memory accesses
// are anchors (see Coalesce.h); other operations follow their operands through
// the layout algebra; loop-carried blocks settle by walking the body again.
// In a kernel whose warps multiply it is a second one, which knows from the first where
// sums of products will live: what is loaded before them may be wanted there. And another one, if
// accesses prove to share their layouts for nothing.
//
// Blocks that are cheap to compute anywhere (ranges, splats, index arithmetic,
// repetitions of smaller blocks, what lies in shared memory) have no home: they are
// *deferred*, and computed in whatever layout each user asks for.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LAYOUTS_LAYOUTINFERENCE_H
#define TILE_PASSES_LAYOUTS_LAYOUTINFERENCE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/layouts/Coalesce.h"

namespace tile {

struct DotLayouts;

class LayoutInference {
public:
  LayoutInference(mlir::func::FuncOp func, Coalescing &coalescing);

  /// Where the block lives. Null for a deferred one, except that a deferred
  /// `expand_dims` has the home of its operand with one more dimension.
  cta::LayoutAttr natural(mlir::Value value) const { return homes.lookup(value); }
  bool isDeferred(mlir::Operation *op) const { return deferred.contains(op); }
  /// The layout in which `op` takes its blocks (for accesses, reductions,
  /// scans, splits and joins; null for others).
  cta::LayoutAttr operandLayout(mlir::Operation *op) const { return works.lookup(op); }
  /// The layout in which a matrix product takes an operand (0: a, 1: b, 2: acc).
  cta::LayoutAttr dotLayout(mlir::Operation *dot, unsigned operand) const {
    return dots.find(dot)->second[operand];
  }
  /// The layout in which an operation without regions takes a block.
  cta::LayoutAttr layoutOfOperand(mlir::OpOperand &operand);

private:
  void inferAll(mlir::func::FuncOp func);
  /// Whether a walk has found where sums of products of warps live. All else that it found is
  /// forgotten.
  bool findSumsAhead(mlir::func::FuncOp func);
  void forget();
  /// Infers once more where accesses need not share their layouts.
  void partAccesses(mlir::func::FuncOp func);
  void inferBlock(mlir::Block &block);
  void infer(mlir::Operation *op);
  void inferElementwise(mlir::Operation *op);
  void inferShape(mlir::Operation *op);
  unsigned mostRepeatedLoads(mlir::Operation *load) const;
  void inferMemory(mlir::Operation *op);
  /// Where a load works that only a product's operand in shared memory is made of; null if
  /// there is no choice.
  cta::LayoutAttr layoutToStage(LoadOp load);
  /// Where a load works whose block is joined to a larger one and stored; null if that is best
  /// done where it is loaded best.
  cta::LayoutAttr layoutToStore(LoadOp load);
  /// Where a load works whose block is combined with sums of products; null if that is best done
  /// where it is loaded best.
  cta::LayoutAttr layoutBesideSums(LoadOp load) const;
  /// Where what is widened goes while it is narrow, if sums of products, or what they start from,
  /// is all that becomes of it; null for others.
  cta::LayoutAttr layoutOfWidened(mlir::Operation *widening) const;
  /// The same of what changes such a block before it is widened, element by element.
  cta::LayoutAttr layoutBeforeWidening(mlir::Operation *op) const;
  /// Where a load works whose block is worked with beside halves of a split one; null if that is
  /// best done where it is loaded best.
  cta::LayoutAttr layoutBesideHalves(LoadOp load) const;
  cta::LayoutAttr homeOfHalves(SplitOp split) const;
  cta::LayoutAttr homeBesideHalves(mlir::Value v, unsigned depth, unsigned &budget) const;
  cta::LayoutAttr layoutToTurn(TransOp op, cta::LayoutAttr home) const;
  double costOfUses(mlir::Value v, const layout::LinearLayout &l, unsigned depth, unsigned &budget,
                    bool &isReduced) const;
  cta::LayoutAttr layoutOfItsOwn(mlir::Operation *op, cta::LayoutAttr given);
  double costOfAccess(mlir::Operation *op, cta::LayoutAttr works, cta::LayoutAttr result) const;
  bool isBetterThere(LoadOp load, cta::LayoutAttr best, cta::LayoutAttr wanted) const;
  void inferReduce(ReduceOp op);
  layout::LinearLayout layoutOfResults(ReduceOp op, const layout::LinearLayout &layout);
  void inferScan(ScanOp op);
  void inferTogether(mlir::Operation *op);
  void inferJoin(JoinOp op);
  void inferSplit(SplitOp op);
  unsigned workOf(mlir::Value operand) const;
  void inferDot(DotOp op);
  /// Of moving the operands from where they live.
  double costOfOperands(DotOp op, const DotLayouts &layouts) const;
  /// Log2 of the neighbours along the inner dimension that a thread may read at once, of an operand
  /// that is widened; 0: none is.
  unsigned longestRun(DotOp op) const;
  void inferDot(cta::WarpgroupDotOp op);
  /// Where an operand is written to shared memory from, if not from where it lives.
  void inferStage(cta::StageOp op);
  cta::LayoutAttr layoutWhereRepeated(LoadOp load, unsigned &budget);
  void findWanted(mlir::Value value, unsigned depth, unsigned &budget,
                  llvm::SmallVectorImpl<cta::LayoutAttr> &wanted);
  bool isExchangedForLess(LoadOp load, cta::LayoutAttr repeated);
  cta::LayoutAttr cheapestOf(llvm::ArrayRef<cta::LayoutAttr> wanted, LoadOp load);
  void inferFor(mlir::scf::ForOp op);
  void inferIf(mlir::scf::IfOp op);
  void inferWhile(mlir::scf::WhileOp op);
  /// Runs `body` until the homes of `args` agree with those of what is passed
  /// back to them (as far as possible).
  void settle(mlir::ValueRange args, mlir::ValueRange inits,
              llvm::function_ref<mlir::ValueRange()> body);

  /// Where threads have runs of rows, if an operand of `op` that lives in `home`, a layout of its
  /// own, comes there anyway to be reshaped, as pairs do that change places; else null.
  cta::LayoutAttr layoutWithReshaped(mlir::Operation *op, cta::LayoutAttr home);

  void setHome(mlir::Value value, cta::LayoutAttr layout);
  bool isUpdate(mlir::ValueRange values, mlir::Operation *user) const;
  bool isBesideWidened(mlir::ValueRange values) const;
  /// `user` is the operation that works where this says.
  cta::LayoutAttr firstHome(mlir::ValueRange values, mlir::Operation *user) const;
  cta::LayoutAttr homeOr(mlir::Value value);
  /// The layout that most helps the users of `value`, or null.
  cta::LayoutAttr wantedByUsers(mlir::Value value, bool accesses);
  /// The same, looking through `depth` operations.
  cta::LayoutAttr wantedByUsers(mlir::Value value, bool accesses, unsigned depth);
  cta::LayoutAttr wantedByUsers(mlir::Value value, bool accesses, unsigned depth, unsigned &budget);
  /// The layout that most helps `user` of `value`, or null.
  cta::LayoutAttr wantedBy(mlir::Operation *user, mlir::Value value, bool accesses, unsigned depth,
                           unsigned &budget);
  /// Of the result of a product with this shape, if there is one.
  cta::LayoutAttr layoutOfGathered(LoadOp load) const;
  cta::LayoutAttr layoutOfProduct(llvm::ArrayRef<int64_t> shape) const;
  cta::LayoutAttr expectedHome(mlir::Operation *op, unsigned depth) const;
  cta::LayoutAttr homeOfUsers(mlir::Value value) const;
  cta::LayoutAttr homeOfSum(mlir::Value value) const;
  cta::LayoutAttr homeOfScaledSum(mlir::Value operand) const;
  cta::LayoutAttr homeOfSums(mlir::Value value, unsigned depth, unsigned &budget) const;
  cta::LayoutAttr layoutAtProduct(mlir::Value value, unsigned depth) const;
  cta::LayoutAttr layoutForUse(mlir::OpOperand &use, unsigned depth) const;
  /// Where all products that `value` goes to take what they get of it; null if they differ.
  cta::LayoutAttr layoutAtAllProducts(mlir::Value value, unsigned depth, unsigned &budget) const;
  /// Where what warpgroup products multiply is made; null for what is needed elsewhere, too.
  cta::LayoutAttr layoutOfMultiplied(mlir::Value value) const;
  /// The same of what is repeated beside it; null beside what is loaded, and stays where it is
  /// loaded.
  cta::LayoutAttr layoutBesideMade(BroadcastOp op) const;
  /// Where `op` changes what a loop loads ahead, to be multiplied from registers: where the product
  /// takes it, if reading it there takes less than moving what becomes of it from `home`; else
  /// null.
  cta::LayoutAttr layoutOfChanged(mlir::Operation *op, cta::LayoutAttr home) const;
  /// Where a loop works with what comes from in front of it, if it has copies at `home` that cost
  /// more in its turns than moving it once; else null.
  cta::LayoutAttr layoutWithoutCopies(mlir::Operation *op, cta::LayoutAttr home);
  /// Where a repeated block is worked with.
  cta::LayoutAttr layoutOfRepeated(BroadcastOp op, unsigned &budget);
  /// Where what is reduced lives, if its shape is that of no access, for each thread to reduce by
  /// itself what it stores; null if the result is not stored, or that takes more registers.
  cta::LayoutAttr layoutForResults(ReduceOp op, unsigned &budget);
  cta::LayoutAttr layoutForReduced(mlir::Value value, unsigned depth, unsigned &budget);
  cta::LayoutAttr get(const layout::LinearLayout &l);

  Coalescing &coalescing;
  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::Value, cta::LayoutAttr> homes;
  llvm::DenseMap<mlir::Operation *, cta::LayoutAttr> works;
  llvm::DenseMap<mlir::Operation *, std::array<cta::LayoutAttr, 3>> dots;
  /// Where accumulators of matrix products live.
  llvm::SmallPtrSet<mlir::Attribute, 4> accumulators;
  /// Where accesses work that have a layout of their own: blocks live there no longer than they
  /// have to.
  llvm::SmallPtrSet<mlir::Attribute, 4> ownLayouts;
  /// Those of warpgroup products, by shape: known before the walk comes to them.
  llvm::SmallVector<std::pair<llvm::ArrayRef<int64_t>, cta::LayoutAttr>, 2> products;
  /// The same of products of warps, by value, as far as a walk has found them before: of what is
  /// added up of their results, and of what becomes of it.
  llvm::DenseMap<mlir::Value, cta::LayoutAttr> sumsAhead;
  /// And where products of warps take what they multiply.
  llvm::DenseMap<mlir::Operation *, std::array<cta::LayoutAttr, 3>> dotsAhead;
  /// Deferred operations and how many operations computing them again takes.
  llvm::DenseMap<mlir::Operation *, unsigned> deferred;
};

/// The operand's layout from which a deferred shape operation (broadcast,
/// expand_dims, reshape, trans) gives `result` without moving data.
layout::LinearLayout operandLayoutFor(mlir::Operation *op, const layout::LinearLayout &result);

/// Whether a block of more than a row will be copied to shared memory ahead of the products of its
/// loop (tile-pipeline-loads), and read from there in any layout: then only its copies count.
bool willComeFromRing(LoadOp load, Coalescing &coalescing);

/// A wavefront for each line of 128 bytes, or each access where that is less. Equal numbers are
/// copied like others.
lowering::Cost costOfLoading(LoadOp load, cta::LayoutAttr layout, Coalescing &coalescing);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_LAYOUTINFERENCE_H
