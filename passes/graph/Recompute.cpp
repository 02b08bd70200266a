//===- Recompute.cpp - gradients of a softmax that store no scores ---------===//
//
// Where the softmax of a product's rows is part of a gradient, every product that takes it, or what
// is computed of it, gets a copy of the scores of its own, in its own order of rows and columns:
// two products more than to store them, which for long rows is far less than to write and read
// them. What rows have in common, the maximum and the sums, is stored, as float32.
//
// The sum over a row of (g @ v.T) * p is, for each row, the sum of g * (p @ v).
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Recompute.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/Space.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHRECOMPUTESCORESPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;

#define DEBUG_TYPE "graph-recompute-scores"
ALWAYS_ENABLED_STATISTIC(productsRecomputed, "products that compute scores again");

SmallVector<int64_t> tile::graph::turnedDims(size_t rank) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(rank)));
  std::swap(dims[rank - 1], dims[rank - 2]);
  return dims;
}

bool tile::graph::isTurned(RearrangeOp op) {
  return op.getDims().size() >= 2 && op.getDims() == ArrayRef(turnedDims(op.getDims().size())) &&
         sizesOf(op.getSrc()).size() == op.getDims().size();
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// With what it is computed of, and what is computed of that.
void Scores::add(Operation *op) {
  if (!region.insert(op))
    return;
  work.push_back(op->getResult(0));
  if (isa<MatmulOp>(op))
    return;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp();
        source && isa<MapOp, CastOp, MatmulOp>(source) && isWhole(operand))
      add(source);
}

bool Scores::addProduct(OpOperand &use, Value value, bool isTurned) {
  auto product = cast<MatmulOp>(use.getOwner());
  bool isRight = use.getOperandNumber() == 1;
  Value other = isRight ? product.getLhs() : product.getRhs();
  if (isWhole(other) || region.contains(product))
    return false;
  consumers.push_back({product, isRight, isTurned, value});
  return true;
}

bool Scores::addUse(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<MatmulOp>(user))
    return addProduct(use, use.get(), false);
  if (auto reduce = dyn_cast<ReduceOp>(user)) {
    bool isRow = reduce.getAxes() == ArrayRef<int64_t>{int64_t(sizes.size()) - 1};
    bool isOwn = reduce == softmax.maximum || llvm::is_contained(softmax.sums, reduce);
    if (!isOwn)
      sums.push_back(reduce);
    return isRow;
  }
  if (auto view = dyn_cast<RearrangeOp>(user))
    return isTurned(view) && llvm::all_of(view->getUses(), [&](OpOperand &turned) {
             return isa<MatmulOp>(turned.getOwner()) && addProduct(turned, use.get(), true);
           });
  if (!isa<MapOp, CastOp>(user) || !isWhole(user->getResult(0)))
    return false;
  add(user);
  return true;
}

bool Scores::collect() {
  sizes = sizesOf(softmax.scores);
  if (sizes.size() < 3 || !isWhole(softmax.firsts[0].getResult()))
    return false;
  add(softmax.power);
  while (!work.empty()) {
    Value next = work.pop_back_val();
    for (OpOperand &use : next.getUses())
      if (!addUse(use))
        return false;
  }
  return consumers.size() > 1 && areProductsFew() && findSums();
}

/// Few, and none of what is computed of another.
bool Scores::areProductsFew() {
  size_t firsts = 0;
  for (Operation *op : region) {
    firsts += isa<MatmulOp>(op);
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp();
          isa<MatmulOp>(op) && source && region.contains(source))
        return false;
  }
  return firsts <= kMostFirsts;
}

/// Every other sum is one of what is multiplied with the powers.
bool Scores::findSums() {
  return llvm::all_of(sums, [&](ReduceOp sum) { return factorsOf(sum).has_value(); });
}

/// Of a sum over a row of powers times what another product gives: that one comes last.
std::optional<Factors> Scores::factorsOf(ReduceOp sum) {
  Factors factors = Factors::of(sum.getSrc());
  if (sum.getKind() != ReduceKind::sum || factors.elements.size() != 2)
    return std::nullopt;
  if (factors.elements[1] == power())
    std::swap(factors.elements[0], factors.elements[1]);
  auto product = factors.elements[1].getDefiningOp<MatmulOp>();
  if (factors.elements[0] != power() || !product ||
      sizesOf(product.getLhs()).size() != sizes.size())
    return std::nullopt;
  return factors;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

void Scores::rewrite() {
  for (ReduceOp sum : sums)
    rewriteSum(sum);
  widen();
  for (const Consumer &consumer : consumers) {
    if (isForward(consumer))
      continue;
    recompute(consumer);
    ++productsRecomputed;
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether each product that computes scores again is one kernel with them.
static bool areChains(func::FuncOp function) {
  OwningOpRef<func::FuncOp> copy = function.clone();
  Block &block = copy->getBody().front();
  separateViews(block);
  return llvm::all_of(block.getOps<MatmulOp>(), [](MatmulOp product) {
    return !product->hasAttr(kChainedAttr) || isOneKernel(product);
  });
}

namespace {
struct GraphRecomputeScoresPass
    : public tile::graph::impl::GraphRecomputeScoresPassBase<GraphRecomputeScoresPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    eraseUnused(function.getBody().front());
    for (unsigned i = 0;; ++i) {
      auto maps = function.getBody().front().getOps<MapOp>();
      if (unsigned(std::distance(maps.begin(), maps.end())) <= i)
        return;
      std::optional<Chain> softmax = softmaxOf((*std::next(maps.begin(), i)).getResult());
      if (!softmax)
        continue;
      Scores scores(*softmax);
      if (!scores.collect())
        continue;
      LDBG() << "scores of " << softmax->power << " are computed again";
      OwningOpRef<func::FuncOp> before = function.clone();
      scores.rewrite();
      eraseUnused(function.getBody().front());
      if (areChains(function))
        continue;
      LDBG() << "a product would not be one kernel with them";
      function.getBody().takeBody(before->getBody());
    }
  }
};
} // namespace
