//===- Sources.cpp - what values of a graph are computed of ---------------===//
#include "passes/graph/Sources.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

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
