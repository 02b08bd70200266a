//===- RowKernel.h - a kernel's rows and columns as a tile function -------===//
//
// A program takes `cut.rows` rows. Rows that fit into a block are loaded once, all that is
// computed from them stays where it is, and results are stored at the end. Longer rows are
// gone through in a loop for each reduction that needs the result of another, and once
// more for what is stored; a sum of powers needs none of its own behind the maximum that
// they are relative to. Where something is combined along rows, a program goes through
// its part of them in a loop, and keeps what it has combined: in registers, or, if rows do
// not fit there, where its part of the result lies. Where programs share rows, each takes some
// chunks of them, and a kernel is one pass.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_ROWKERNEL_H
#define TILE_PASSES_GRAPH_ROWKERNEL_H

#include "passes/graph/BlockEmitter.h"
#include "passes/graph/RowLevels.h"

namespace tile::graph {

/// The body of a kernel that goes along rows, while it is made.
class RowKernel {
public:
  RowKernel(const KernelShape &shape, const Cut &cut, mlir::ModuleOp module)
      : shape(shape), op(shape.op), cut(cut), frame(shape, cut, module),
        blocks(frame, shape, cut.rows, cut.block), b(frame.b), loc(frame.loc), index(frame.index),
        levels(shape) {}
  void run();

private:
  /// One pass over the columns: what it reduces and stores, and what its loop carries for that.
  struct Pass {
    llvm::ArrayRef<graph::ReduceOp> reductions;
    llvm::ArrayRef<unsigned> stores;
    llvm::SmallVector<graph::ScanOp> scans;
    /// Of a maximum that sums are relative to, each turn needs the number.
    llvm::DenseMap<mlir::Operation *, llvm::SmallVector<size_t>> sumsOf;
  };
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  mlir::Value number(int64_t value) { return frame.number(index, value); }

  // Which rows and columns (Emit.cpp).
  mlir::Value splitProgram(mlir::Value &program);
  void findIndices();
  void enterRows(mlir::Value start);
  void enterColumns(mlir::Value start);
  void runParts();
  void readBeforeStores(llvm::ArrayRef<unsigned> stores);
  void storeAll();
  PartialOp partialOf(unsigned store);
  void readParts(JoinOp join);

  // Rows in passes (RowPasses.cpp).
  void runInPasses();
  /// Of these values; null: all.
  void loadOfRow(const llvm::SmallDenseSet<mlir::Value> *wanted = nullptr);
  void storeRows(llvm::ArrayRef<unsigned> stores);
  void runPass(llvm::ArrayRef<graph::ReduceOp> reductions, llvm::ArrayRef<unsigned> stores);
  llvm::SmallVector<graph::ScanOp> scansOf(llvm::ArrayRef<graph::ReduceOp> reductions,
                                           llvm::ArrayRef<unsigned> stores);
  llvm::SmallVector<mlir::Value> initialOf(const Pass &pass);
  bool isReadBeside(const Pass &pass);
  void runTurn(const Pass &pass, mlir::scf::ForOp turns);
  void reduceTurn(const Pass &pass, mlir::scf::ForOp turns,
                  llvm::SmallVectorImpl<mlir::Value> &next);
  mlir::Value startOfChunk(mlir::Value turn);
  mlir::Value carryMaximum(graph::ReduceOp maximum, mlir::Value before, mlir::Value &scale);
  bool vanishesOutside(graph::ReduceOp sum, graph::ReduceOp maximum) const;

  // Rows that programs share (SharedRows.cpp).
  void runStep();
  mlir::Value partOfRow();
  mlir::Value pointersToShared(BlockEmitter &shares, mlir::Value array);
  mlir::Value loadShared(mlir::Type element, BlockEmitter &shares, mlir::Value array);
  void combineShared(llvm::ArrayRef<graph::ReduceOp> reductions);
  void storeShared(mlir::Type element, bool hasRows, mlir::Value whole, mlir::Value array);
  std::pair<mlir::Value, mlir::Value> boundsOfPart();
  void findScanned(llvm::ArrayRef<graph::ScanOp> scans);
  void combineScanned(llvm::ArrayRef<graph::ScanOp> scans);

  const KernelShape &shape;
  KernelOp op;
  const Cut &cut;
  KernelFrame frame;
  BlockEmitter blocks;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type index;
  RowLevels levels;
  mlir::Value isFirst;      ///< i1: of the rows of the program's part, in a loop over them
  mlir::Value row, rowMask; ///< the block's, while it stays the same
  llvm::DenseMap<mlir::Operation *, mlir::Value> scannedBefore; ///< by the parts before the own
  size_t firstOfScans = 0;                                      ///< of what programs share
  size_t firstOfOwn = 0; ///< of what programs share, what this one finds itself
};

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_ROWKERNEL_H
