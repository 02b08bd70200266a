//===- LintKernel.h - the questions that a lint asks ------------*- C++ -*-===//
//
// One walk over a kernel as it was written (Lint.cpp); questions that take more than one operation
// to answer have files of their own: masks (LintMasks.cpp), padding that is added up
// (LintSums.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LINTKERNEL_H
#define TILE_PASSES_LINTKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Lint.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/Intervals.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tile::linting {

class Linter {
public:
  Linter(mlir::func::FuncOp kernel, bool stridesKnown, LintReporter report)
      : kernel(kernel), stridesKnown(stridesKnown), report(report), axes(kernel) {}
  void run();

private:
  void findLive();
  void checkMask(mlir::Operation *op, mlir::Value mask);
  void checkNeighbours(mlir::Operation *op, mlir::Value pointer);
  void checkProducts(mlir::Value pointer, mlir::Value offset, unsigned depth = 0);
  void noteProduct(mlir::arith::MulIOp product, mlir::Value pointer);
  void reportProducts();
  bool dependsOn(mlir::Value value, llvm::function_ref<bool(mlir::Value)> what, unsigned depth = 0);
  void checkShift(mlir::Operation *op);
  void checkDivision(mlir::Operation *op);
  void checkIndex(mlir::Operation *op, mlir::Value index, int64_t size, llvm::StringRef what);
  void checkSamePlace(StoreOp store);
  void noteMasked(mlir::Operation *op, mlir::Value pointer, mlir::Value mask);
  void reportUnmasked();
  void reportUnusedBounds();
  void reportUnendedRows();
  void checkSum(ReduceOp sum);

  mlir::func::FuncOp kernel;
  bool stridesKnown;
  LintReporter report;
  tile::AxisInfoAnalysis axes;
  Intervals intervals;
  llvm::SmallPtrSet<mlir::Operation *, 32> live;
  mlir::arith::MulIOp firstProduct;             ///< of 32 bits, in an address
  llvm::SetVector<llvm::StringRef> largeArrays; ///< whose offsets are such products
  struct Access {
    mlir::Operation *op;
    mlir::Value offset, mask;
  };
  llvm::SmallVector<Access> accesses; ///< by a block of offsets
};

} // namespace tile::linting

#endif // TILE_PASSES_LINTKERNEL_H
