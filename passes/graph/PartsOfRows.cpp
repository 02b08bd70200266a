//===- PartsOfRows.cpp - what is combined of rows, by a kernel of its own -===//
#include "passes/graph/PartsOfRows.h"
#include "passes/graph/GraphPasses.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHSTOREROWSPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;

#define DEBUG_TYPE "graph-store-rows"
ALWAYS_ENABLED_STATISTIC(kernelsSplit, "kernels that store what they had combined of rows");

bool tile::graph::hasPartsOfRows(const KernelShape &shape) {
  KernelOp op = shape.op;
  auto isOfRow = [&](PartialOp partial) {
    return partial.getSrc().getDefiningOp() && !shape.forms.lookup(partial.getSrc()).column;
  };
  return shape.parts && shape.reduces && !op->hasAttr(kInPlaceAttr) &&
         llvm::all_of(op.getBody().front().getOps<PartialOp>(), isOfRow);
}

KernelOp tile::graph::storeRows(KernelOp op) {
  Block &body = op.getBody().front();
  Operation *end = body.getTerminator();
  // What is stored: the rows that some results are combined of, and the other results.
  llvm::SmallSetVector<Value, 4> stored;
  for (Value result : end->getOperands()) {
    auto partial = result.getDefiningOp<PartialOp>();
    stored.insert(partial ? partial.getSrc() : result);
  }
  OpBuilder b(op);
  std::string name = op.getName().str();
  auto rows = KernelOp::create(b, op.getLoc(), ValueRange(stored.getArrayRef()).getTypes(), name,
                               op->getOperands(), op.getReasonsAttr());
  auto storedAs = [&](Value value) {
    return rows->getResult(llvm::find(stored, value) - stored.begin());
  };
  SmallVector<PartialOp> partials;
  llvm::SmallSetVector<Value, 4> combined;
  for (auto [value, result] : llvm::zip_equal(end->getOperands(), op->getResults()))
    if (auto partial = value.getDefiningOp<PartialOp>()) {
      partials.push_back(partial);
      combined.insert(partial.getSrc());
    } else {
      result.replaceAllUsesWith(storedAs(value));
    }
  SmallVector<Value> inputs =
      llvm::map_to_vector(combined, [&](Value value) -> Value { return storedAs(value); });
  SmallVector<Type> types =
      llvm::map_to_vector(partials, [](PartialOp partial) -> Type { return partial.getType(); });
  auto parts = KernelOp::create(b, op.getLoc(), types, name + "_rows", inputs, ArrayAttr());
  Block *inside = &parts.getBody().emplaceBlock();
  for (Value value : combined)
    inside->addArgument(value.getType(), value.getLoc());
  OpBuilder in = OpBuilder::atBlockEnd(inside);
  SmallVector<Value> results;
  for (PartialOp partial : partials) {
    auto copy = cast<PartialOp>(in.clone(*partial));
    copy->setOperand(
        0, inside->getArgument(llvm::find(combined, partial.getSrc()) - combined.begin()));
    results.push_back(copy.getResult());
  }
  YieldOp::create(in, op.getLoc(), results);
  for (auto [value, result] : llvm::zip_equal(end->getOperands(), op->getResults()))
    if (auto partial = value.getDefiningOp<PartialOp>())
      result.replaceAllUsesWith(parts->getResult(llvm::find(partials, partial) - partials.begin()));
  // The rest is the kernel of rows.
  end->setOperands(stored.getArrayRef());
  for (PartialOp partial : partials)
    partial->erase();
  rows.getBody().takeBody(op.getBody());
  op->erase();
  ++kernelsSplit;
  LDBG() << rows.getName() << " stores its rows";
  return rows;
}

namespace {
struct GraphStoreRowsPass : public tile::graph::impl::GraphStoreRowsPassBase<GraphStoreRowsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<KernelOp> kernels(function.getBody().front().getOps<KernelOp>());
    for (KernelOp op : kernels)
      if (hasPartsOfRows(shapeOf(op)))
        storeRows(op);
  }
};
} // namespace
