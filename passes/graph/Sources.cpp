//===- Sources.cpp - what values of a graph are computed of ---------------===//
#include "passes/graph/Sources.h"
#include "ir/graph/Graph.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tile::graph;

void tile::graph::visitSources(ArrayRef<Value> values, llvm::function_ref<bool(Value)> goesOn) {
  SmallVector<Value> work(values);
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second || !goesOn(value))
      continue;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(work, op->getOperands());
  }
}

bool tile::graph::isOfPlaces(Value place) {
  bool isRead = false;
  visitSources(place, [&](Value source) {
    Operation *op = source.getDefiningOp();
    isRead |= !isa_and_nonnull<IndexOp, SizeOp, ConstantOp, MapOp, CastOp, RearrangeOp>(op);
    return !isRead;
  });
  return !isRead;
}

bool tile::graph::isCallers(Value value) {
  while (auto view = value.getDefiningOp<RearrangeOp>())
    value = view.getSrc();
  return !value.getDefiningOp();
}
