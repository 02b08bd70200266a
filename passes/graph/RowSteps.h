//===- RowSteps.h - rows that several programs share ----------------------===//
//
// Where a kernel has fewer rows than a chip has room for programs, the chunks of a row are dealt
// out to several. What they have reduced of it meets in memory: each pass over the rows
// (RowLevels.h) is a kernel of its own, a step. Its programs begin by combining what those of the
// steps before have found, each one all of it, and end by storing what they have found themselves.
// The last step stores what there is one of for each row.
//
// Sums that go on along a row take two steps: the first adds up each part of it, in order, and the
// second goes on from what the parts before its own add up to.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_ROWSTEPS_H
#define TILE_PASSES_GRAPH_ROWSTEPS_H

#include "passes/graph/RowLevels.h"

namespace tile::graph {

class RowSteps {
public:
  explicit RowSteps(const KernelShape &shape) : shape(shape), op(shape.op), levels(shape) {}

  /// Whether programs can share the rows of a kernel.
  bool canShare();
  /// Kernels that it becomes then.
  unsigned count() { return sharesScans() ? 2 : levels.last() + 1 + storesRowsApart(); }
  /// Whether what goes on along the rows is shared, in two steps.
  bool sharesScans();
  /// Whether a step goes along the rows; else it has one program for each of them.
  bool goesAlong(unsigned step) {
    return !reduced(step).empty() || !stores(step).empty() || sharesScans();
  }
  /// What its programs find a part of.
  llvm::SmallVector<ReduceOp> reduced(unsigned step);
  /// What they combine, of those before.
  llvm::SmallVector<ReduceOp> known(unsigned step);
  /// As these, of what goes on along rows.
  llvm::SmallVector<ScanOp> scanned(unsigned step) { return step == 0 ? scans() : scansOfNone(); }
  llvm::SmallVector<ScanOp> scannedBefore(unsigned step) {
    return step == 1 ? scans() : scansOfNone();
  }
  /// Results that they store, along rows and one for each.
  llvm::SmallVector<unsigned> stores(unsigned step);
  llvm::SmallVector<unsigned> storesOfRows(unsigned step);
  /// All that is emitted for it.
  const llvm::SmallDenseSet<mlir::Value> &needed(unsigned step);
  bool reads(unsigned step, unsigned array);
  bool writes(unsigned step, unsigned result);

private:
  bool storesRowsApart();
  llvm::SmallVector<ScanOp> scans();
  static llvm::SmallVector<ScanOp> scansOfNone() { return {}; }
  bool isAlong(ReduceOp reduce) { return levels.formOfSource(reduce).column; }
  /// The step that finds it.
  unsigned stepOf(ReduceOp reduce) { return levels.of(reduce.getResult()) - 1; }
  llvm::SmallVector<mlir::Value> results();

  const KernelShape &shape;
  KernelOp op;
  RowLevels levels;
  std::map<unsigned, llvm::SmallDenseSet<mlir::Value>> neededBy; ///< by step
  std::optional<bool> scansAreShared;
};

/// The types of what a kernel takes and leaves in memory between the programs that share a
/// product's inner dimension or rows, in the order of its parameters, which stand behind what it
/// reads.
llvm::SmallVector<mlir::Type> typesOfShared(const KernelShape &shape, Share share, unsigned step);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_ROWSTEPS_H
