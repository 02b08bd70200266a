//===- TileReductions.cpp - reductions and scans ------------------------===//
#include "ir/Combiners.h"
#include "ir/Products.h"
#include "ir/TileDialect.h"
#include "ir/TypeRules.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

static LogicalResult verifyCombine(Operation *op, ValueRange srcs, Region &combine) {
  SmallVector<Type> scalars;
  for (Value src : srcs)
    scalars.push_back(getElementType(src.getType()));
  SmallVector<Type> expected(scalars);
  expected.append(scalars.begin(), scalars.end());
  Block &block = combine.front();
  if (block.getArgumentTypes() != TypeRange(expected)) // combine_c3
    return op->emitOpError("combiner must take ")
           << expected << ", got " << block.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getOperandTypes() != TypeRange(scalars)) // combine_c4
    return op->emitOpError("combiner must end in a `tile.yield` of ") << scalars;
  return success();
}

Operation *tile::soleCombiner(Block &combiner) {
  if (combiner.getNumArguments() != 2 || !llvm::hasSingleElement(combiner.without_terminator()))
    return nullptr;
  Operation &op = combiner.front();
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 ||
      combiner.getTerminator()->getOperand(0) != op.getResult(0))
    return nullptr;
  Value left = combiner.getArgument(0), right = combiner.getArgument(1);
  bool inOrder = op.getOperand(0) == left && op.getOperand(1) == right;
  bool exchanged = op.getOperand(0) == right && op.getOperand(1) == left;
  return inOrder || (exchanged && op.hasTrait<OpTrait::IsCommutative>()) ? &op : nullptr;
}

bool tile::isSum(Block &combiner) {
  return isa_and_nonnull<arith::AddFOp, arith::AddIOp>(soleCombiner(combiner));
}

LogicalResult ReduceOp::verifyRegions() { return verifyCombine(*this, getSrcs(), getCombine()); }
LogicalResult ScanOp::verifyRegions() { return verifyCombine(*this, getSrcs(), getCombine()); }

/// A result for each operand, and an axis that all of them have.
static LogicalResult verifyAlong(Operation *op, ValueRange srcs, uint32_t axis) {
  if (srcs.empty() || srcs.size() != op->getNumResults()) // combine_c1
    return op->emitOpError("expected as many results as operands");
  auto type = cast<RankedTensorType>(srcs.front().getType()); // the others have its shape
  if (int64_t(axis) >= type.getRank())                        // combine_c2
    return op->emitOpError("axis ") << axis << " is past the end of " << type;
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyAlong(*this, getSrcs(), getAxis())))
    return failure();
  for (auto [src, result] : llvm::zip(getSrcs(), getResults())) {
    auto type = cast<RankedTensorType>(src.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + getAxis());
    Type expected = shape.empty() ? type.getElementType()
                                  : Type(RankedTensorType::get(shape, type.getElementType()));
    if (failed(expectType(*this, result.getType(), expected, "result"))) // reduce_c1
      return failure();
  }
  return success();
}

LogicalResult ScanOp::verify() {
  if (failed(verifyAlong(*this, getSrcs(), getAxis())))
    return failure();
  for (auto [src, result] : llvm::zip(getSrcs(), getResults()))
    if (failed(expectType(*this, result.getType(), src.getType(), "result"))) // scan_c1
      return failure();
  return success();
}
