//===- RowMajorPositions.cpp - elements of blocks by their row-major positions -----===//
#include "passes/tile/RowMajorPositions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;
using llvm::isPowerOf2_64;

Value tile::integer(ImplicitLocOpBuilder &b, int64_t value, RankedTensorType type) {
  Attribute attr = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, attr));
}

Value tile::gather(ImplicitLocOpBuilder &b, Value src, Value index, unsigned axis) {
  auto type = cast<RankedTensorType>(src.getType());
  Type element = type.getElementType();
  if (isa<PtrType>(element))
    src = PtrToIntOp::create(b, type.clone(b.getI64Type()), src);
  else if (element.isInteger(1))
    src = arith::ExtUIOp::create(b, type.clone(b.getI8Type()), src);
  auto carried = cast<RankedTensorType>(src.getType());
  auto shape = cast<RankedTensorType>(index.getType()).getShape();
  Value result = GatherOp::create(b, carried.clone(shape), src, index, axis);
  if (isa<PtrType>(element))
    return IntToPtrOp::create(b, type.clone(shape), result);
  if (element.isInteger(1))
    return arith::TruncIOp::create(b, type.clone(shape), result);
  return result;
}

bool tile::keepsPositions(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  bool keeps = true;
  auto take = [&](ArrayRef<int64_t> &shape, int64_t &product) {
    int64_t size = shape.back();
    shape = shape.drop_back();
    keeps &= size == 1 || isPowerOf2_64(product);
    product *= size;
  };
  while (!a.empty() && !b.empty()) {
    int64_t left = 1, right = 1;
    take(a, left);
    take(b, right);
    while (left != right)
      left < right ? take(a, left) : take(b, right);
  }
  return keeps; // what is left are ones
}

static SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Value tile::relocated(ImplicitLocOpBuilder &b, Value at, ArrayRef<int64_t> from,
                      ArrayRef<int64_t> to) {
  auto type = cast<RankedTensorType>(at.getType());
  SmallVector<int64_t> strides = rowMajorStrides(to);
  Value rest = at, result;
  for (size_t d = from.size(); d-- > 0;) {
    Value size = integer(b, from[d], type);
    Value coordinate = d ? arith::RemUIOp::create(b, rest, size).getResult() : rest;
    rest = d ? arith::DivUIOp::create(b, rest, size).getResult() : rest;
    Value part = arith::MulIOp::create(b, coordinate, integer(b, strides[d], type));
    result = result ? arith::AddIOp::create(b, result, part).getResult() : part;
  }
  return result;
}
