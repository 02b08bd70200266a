//===- ExplainReader.h - the walk over a laid-out kernel ------------------===//
//
// Visits the ops of a kernel that is laid out and not lowered yet, in program
// order, and adds what each moves and computes to an Explanation.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_EXPLAINREADER_H
#define TILE_COMPILER_EXPLAINREADER_H

#include "compiler/Explain.h"
#include "compiler/ProgramValues.h"
#include "ir/CtaDialect.h"
#include "ir/layout/MatrixAccess.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/Refusals.h"

namespace tile::explaining {

/// "fp16"; "128x64"; "128x64 fp16".
std::string typeName(mlir::Type type);
std::string shapeName(llvm::ArrayRef<int64_t> shape);
std::string blockName(mlir::Type type);

class Reader {
public:
  Reader(mlir::func::FuncOp kernel, const ExplainOptions &options, llvm::ArrayRef<Remark> remarks,
         Explanation &out);
  void run();

private:
  void walk(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitLoop(mlir::Operation *op);
  void visitRegisterAccess(mlir::Operation *op);
  void visitCopy(cta::RingCopyOp op);
  void visitBulkCopy(cta::RingBulkCopyOp op);
  void visitElementCopy(cta::RingElementCopyOp op);
  void visitAsyncCopy(cta::AsyncCopyOp op);
  void visitSlots(cta::SlotsOp op);
  void visitRead(cta::ReadOp op);
  void visitTmaStore(cta::TmaStoreOp op);
  void visitRing(cta::RingOp op);
  void visitConvert(cta::ConvertLayoutOp op);
  void visitCombine(mlir::Operation *op);
  void visitDot(DotOp op);
  void visitWarpgroupDot(cta::WarpgroupDotOp op);
  void visitArithmetic(mlir::Operation *op);

  /// What the innermost loop around does in one iteration.
  Work &work() { return loop < 0 ? out.outside : out.loops[loop].each; }
  template <typename T> T at(mlir::Operation *op) const {
    T place;
    if (auto file = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>()) {
      place.line = file.getLine();
      place.column = file.getColumn();
    }
    place.loop = loop;
    return place;
  }
  /// Why the access is none by TMA or in bulk, or the product none of warpgroups; and why the
  /// access is no copy by the threads. Nothing if no pass held back there.
  std::string reasonFor(mlir::Operation *op) const;
  std::string copyReasonFor(mlir::Operation *op) const;
  /// Wavefronts of all warps for one side of an exchange.
  void addSide(Explanation::Exchange &e, const layout::LinearLayout &access,
               const layout::LinearLayout &shared, unsigned bytes, unsigned vectorLog2,
               unsigned parts, const std::optional<layout::MatrixAccess> &matrices = std::nullopt);
  void addRing(mlir::Operation *op, Explanation::Ring ring);
  /// Counts an access whose requests take `moved` bytes; `address` says where its block begins.
  void addAccess(Explanation::Access access, double moved, mlir::ValueRange address);
  /// Finds out which programs load the same.
  void compareLoads();
  void addStaging(mlir::Operation *op, mlir::Type block, const layout::LinearLayout &image,
                  const char *what);

  mlir::func::FuncOp kernel;
  Explanation &out;
  llvm::ArrayRef<Remark> remarks;
  ProgramValues values;
  AxisInfoAnalysis axes;
  int warps, wantedStages;
  const Target &target;
  int loop = -1;
  bool inProducer = false;
  std::vector<llvm::SmallVector<mlir::Value, 4>> addresses; ///< of `out.accesses`
};

} // namespace tile::explaining

#endif // TILE_COMPILER_EXPLAINREADER_H
