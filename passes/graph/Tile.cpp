//===- Tile.cpp - kernels of a function into functions of the tile dialect ===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/RowSteps.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHTILEPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;

#define DEBUG_TYPE "graph-tile"
ALWAYS_ENABLED_STATISTIC(functionsMade, "kernels that became functions of the tile dialect");

namespace {
struct GraphTilePass : public tile::graph::impl::GraphTilePassBase<GraphTilePass> {
  using GraphTilePassBase::GraphTilePassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    SmallVector<KernelOp> kernels;
    module.walk([&](KernelOp op) { kernels.push_back(op); });
    // Names of kernels are free once their functions are gone.
    for (func::FuncOp function : functions)
      function.setName((function.getName() + ".graph").str());
    for (KernelOp op : kernels) {
      if (isa<LaunchOp>(op.getBody().front().front()))
        continue; // of another file
      KernelShape shape = shapeOf(op);
      Cut cut;
      cut.block = block;
      cut.rows = rows;
      cut.loop = loop && shape.reduces;
      cut.inner = inner;
      cut.stages = int(stages);
      cut.evenColumns = cut.evenRows = cut.evenInner = even;
      cut.oneBlock = shape.reduces;
      cut.aligned.assign(op->getNumOperands() + op->getNumResults(), aligned);
      cut.divisible.assign(shape.sizes.size(), aligned ? kMostMultiple : 0);
      if (shape.product) // of matrices
        cut.rows = std::max<int64_t>(cut.rows, 16);
      cut.depth = inner;
      cut.evenDepth = even;
      if (shape.product && !shape.product->chain && parts > 1) {
        cut.aligned.assign(cut.aligned.size() + productsOf(shape).size(), aligned);
        cut.share = Share::Parts;
        emitKernel(shape, cut, module);
        ++functionsMade;
        cut.share = Share::Sum;
        cut.parts = parts;
      }
      if (parts > 1 && !shape.product && RowSteps(shape).canShare()) {
        emitSteps(shape, cut, module);
        continue;
      }
      emitKernel(shape, cut, module);
      ++functionsMade;
      LDBG() << op.getName() << ": blocks of " << cut.rows << " x " << cut.block;
    }
    for (func::FuncOp function : functions)
      function.erase();
  }

  /// Rows that so many programs share.
  void emitSteps(const KernelShape &shape, Cut cut, ModuleOp module) {
    cut.share = Share::Step;
    cut.loop = true;
    cut.parts = parts;
    unsigned count = RowSteps(shape).count();
    for (cut.step = 0; cut.step < count; ++cut.step) {
      size_t arrays = arraysOf(shape, Share::Step, cut.step).size() +
                      typesOfShared(shape, Share::Step, cut.step).size();
      cut.aligned.assign(arrays, aligned);
      emitKernel(shape, cut, module);
      ++functionsMade;
    }
  }
};
} // namespace
