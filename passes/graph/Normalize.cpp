//===- Normalize.cpp - forms of products and reductions that kernels have --===//
//
// There are several ways to write one product or one sum, and grouping (Fuse.cpp) knows one form of
// each. What is written otherwise gets that form first, while reshapes and windows are still what
// they are: as indices they would hide it.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Normalize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/graph/GraphPasses.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHNORMALIZEPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;

#define DEBUG_TYPE "graph-normalize"
ALWAYS_ENABLED_STATISTIC(formsChanged, "products, reductions and powers that have another form");

namespace {
/// Counts what is replaced.
struct Counter : RewriterBase::Listener {
  void notifyOperationReplaced(Operation *op, ValueRange) override {
    auto map = dyn_cast<MapOp>(op);
    count += isa<MatmulOp, ReduceOp, RearrangeOp>(op) || (map && map.getKind() == MapKind::pow);
  }
  unsigned count = 0;
};

struct GraphNormalizePass : public tile::graph::impl::GraphNormalizePassBase<GraphNormalizePass> {
  void runOnOperation() override {
    RewritePatternSet orders(&getContext()), patterns(&getContext());
    addFlippedProductPatterns(orders);
    addSinkOrderPatterns(orders); // first: other orders of scores are not the product's
    addJoinedRowsPatterns(patterns);
    addTurnedProductPatterns(patterns);
    addSmallReductionPatterns(patterns);
    addPairReductionPatterns(patterns);
    addPowerPatterns(orders);
    addVectorProductPatterns(patterns);
    Counter counter;
    GreedyRewriteConfig config;
    config.setListener(&counter);
    if (failed(applyPatternsGreedily(getOperation(), std::move(orders), config)) ||
        failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    LDBG() << getOperation().getName() << ": " << counter.count << " forms changed";
    formsChanged += counter.count;
  }
};
} // namespace
