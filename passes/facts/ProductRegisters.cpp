//===- ProductRegisters.cpp - what a thread holds while products are computed ===//
#include "passes/facts/ProductRegisters.h"
#include "ir/CtaDialect.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/facts/ProductFacts.h"

using namespace mlir;
using namespace tile;

static bool isHeld(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && isa<FloatType>(type.getElementType()) && !v.getDefiningOp<arith::ConstantOp>();
}

/// Whether `v` is there when `product` starts and needed once it is done.
static bool isLiveAcross(Value v, Operation *product) {
  Block *block = v.getParentBlock();
  Operation *here = block->findAncestorOpInBlock(*product);
  if (!here || v.getDefiningOp() == here)
    return false;
  if (Operation *from = v.getDefiningOp(); from && !from->isBeforeInBlock(here))
    return false;
  return llvm::any_of(v.getUsers(), [&](Operation *user) {
    Operation *use = block->findAncestorOpInBlock(*user);
    // What a loop reads of outside is needed in its next turn, too.
    return use == here ? use != product && isa<LoopLikeOpInterface>(use)
                       : here->isBeforeInBlock(use);
  });
}

int64_t tile::registersDuringProducts(func::FuncOp kernel) {
  SmallVector<Value> values;
  auto collect = [&](ValueRange all) { llvm::copy_if(all, std::back_inserter(values), isHeld); };
  SmallVector<cta::WarpgroupDotOp> products;
  kernel.walk([&](Operation *op) {
    collect(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        collect(block.getArguments());
    if (auto product = dyn_cast<cta::WarpgroupDotOp>(op))
      products.push_back(product);
  });
  int64_t most = 0;
  for (cta::WarpgroupDotOp product : products) {
    int64_t registers = registersOf(product.getType());
    for (Value v : values)
      if (v != product.getResult() && isLiveAcross(v, product))
        registers += registersOf(v.getType());
    most = std::max(most, registers);
  }
  return most;
}
