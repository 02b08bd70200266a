//===- Reductions.cpp - what a smaller program is --------------------------===//
//
// The meaning changes, which is no harm: whoever asks says whether the failure is still there.
//
//===----------------------------------------------------------------------===//
#include "tools/tile-reduce/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

bool tile::canGo(Operation *op) {
  return op->getParentOfType<FunctionOpInterface>() && !op->hasTrait<OpTrait::IsTerminator>();
}

/// A number or a block of numbers; null if there is no constant of the type.
static TypedAttr constantOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr one;
  if (isa<IntegerType, IndexType>(element))
    one = IntegerAttr::get(element, 1);
  else if (isa<FloatType>(element))
    one = FloatAttr::get(element, 1.0);
  else
    return {};
  if (auto block = dyn_cast<RankedTensorType>(type))
    return DenseElementsAttr::get(block, ArrayRef<Attribute>(one));
  return one;
}

/// Puts a block of `op` in its place: one turn of a loop, one side of a branch.
static void runOnce(Operation *op, Block *block, ValueRange arguments, RewriterBase &rewriter) {
  Operation *yield = block->getTerminator();
  rewriter.inlineBlockBefore(block, op, arguments);
  rewriter.replaceOp(op, SmallVector<Value>(yield->getOperands()));
  rewriter.eraseOp(yield);
}

/// A value becomes an operand of the same type, else a constant.
static bool simplify(Operation *op, RewriterBase &rewriter) {
  Type type = op->getResult(0).getType();
  for (Value operand : op->getOperands())
    if (operand.getType() == type) {
      rewriter.replaceOp(op, operand);
      return true;
    }
  TypedAttr constant = constantOf(type);
  if (!constant)
    return false;
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, constant);
  return true;
}

bool tile::reduce(Operation *op, Reduction how, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && how == Reduction::Flatten) {
    SmallVector<Value> first{loop.getLowerBound()};
    llvm::append_range(first, loop.getInitArgs());
    runOnce(op, loop.getBody(), first, rewriter);
    return true;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && how == Reduction::Flatten) {
    runOnce(op, branch.thenBlock(), {}, rewriter);
    return true;
  }
  if (how == Reduction::Flatten)
    return false;
  if (op->use_empty()) {
    rewriter.eraseOp(op);
    return true;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    rewriter.replaceOp(op, loop.getInitArgs());
    return true;
  }
  return op->getNumResults() == 1 && !op->hasTrait<OpTrait::ConstantLike>() &&
         simplify(op, rewriter);
}
