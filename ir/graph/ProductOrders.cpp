//===- ProductOrders.cpp - products whose dimensions come in another order -===//
#include "ir/graph/ProductOrders.h"

using namespace mlir;
using namespace tile::graph;

bool tile::graph::isBetweenProducts(Operation *op) {
  return isa_and_nonnull<MapOp, CastOp, RearrangeOp, ReduceOp>(op);
}

bool tile::graph::isOfProduct(Value value) {
  SmallVector<Operation *> next = {value.getDefiningOp()};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (isa_and_nonnull<MatmulOp>(op))
      return true;
    if (!isBetweenProducts(op) || !seen.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      next.push_back(operand.getDefiningOp());
  }
  return false;
}

bool tile::graph::isForProduct(Value value) {
  SmallVector<Operation *> next(value.user_begin(), value.user_end());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    if (isa<MatmulOp>(op))
      return true;
    if (isBetweenProducts(op))
      next.append(op->user_begin(), op->user_end());
  }
  return false;
}

bool tile::graph::isFirstProduct(MatmulOp product) {
  return !isOfProduct(product.getLhs()) && !isOfProduct(product.getRhs());
}

bool tile::graph::isOrderForNext(RearrangeOp op) {
  auto product = op.getSrc().getDefiningOp<MatmulOp>();
  ArrayRef<int64_t> dims = op.getDims();
  auto rank = int64_t(dims.size());
  if (!product || !product->hasOneUse() || rank < 2 ||
      dims.size() != product.getType().sizes().size() || llvm::is_contained(dims, -1))
    return false;
  bool isOther = dims[rank - 2] != rank - 2 || dims[rank - 1] != rank - 1;
  return isOther && isForProduct(op.getResult()) && isFirstProduct(product);
}

bool tile::graph::isOfSoftmaxForProduct(Value value) {
  bool isPower = false, isCompared = false, isMultiplied = false;
  auto look = [&](Operation *op) {
    auto map = dyn_cast_or_null<MapOp>(op);
    isPower |= map && (map.getKind() == MapKind::exp || map.getKind() == MapKind::exp2);
    auto reduce = dyn_cast_or_null<ReduceOp>(op);
    isCompared |= reduce && reduce.getKind() == ReduceKind::max;
  };
  llvm::SmallPtrSet<Operation *, 16> before, seen;
  SmallVector<Operation *> next = {value.getDefiningOp()};
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    look(op);
    if (isBetweenProducts(op) && before.insert(op).second)
      for (Value operand : op->getOperands())
        next.push_back(operand.getDefiningOp());
  }
  next.assign(value.user_begin(), value.user_end());
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    look(op);
    isMultiplied |= isa<MatmulOp>(op);
    if (isBetweenProducts(op))
      next.append(op->user_begin(), op->user_end());
  }
  return isPower && isCompared && isMultiplied;
}

namespace {
/// An operand of a product of `rank` dimensions.
class Operand {
public:
  Operand(Value value, int64_t rank, bool isRight) : value(value), rank(rank), isRight(isRight) {}

  /// Where a dimension of the result is along it; -1: that is the same along it.
  int64_t along(int64_t dim) const {
    Sizes sizes = typeOf(value).sizes();
    int64_t own = dim - (rank - int64_t(sizes.size())), last = int64_t(sizes.size()) - 1;
    if (dim >= rank - 2)
      return (dim == rank - 1) == isRight ? last - !isRight : -1;
    return own < 0 || sizes[own].isConstant(1) ? -1 : own;
  }
  /// Its dimensions as the left or the right operand of a product whose result has these.
  SmallVector<int64_t> as(bool right, ArrayRef<int64_t> dims) const {
    SmallVector<int64_t> own;
    for (int64_t dim : dims.drop_back(2))
      own.push_back(along(dim));
    int64_t inner = int64_t(typeOf(value).sizes().size()) - 1 - isRight;
    own.push_back(right ? inner : along(dims[dims.size() - 2]));
    own.push_back(right ? along(dims.back()) : inner);
    return own;
  }

private:
  Value value;
  int64_t rank;
  bool isRight;
};
} // namespace

std::optional<ProductOrder> tile::graph::orderOf(MatmulOp product, ArrayRef<int64_t> dims) {
  auto rank = int64_t(dims.size());
  int64_t row = dims[rank - 2], column = dims[rank - 1];
  Operand left(product.getLhs(), rank, false), right(product.getRhs(), rank, true);
  auto areOf = [&](const Operand &rows, const Operand &columns) {
    return rows.along(row) >= 0 && columns.along(row) < 0 && columns.along(column) >= 0 &&
           rows.along(column) < 0;
  };
  bool isSwapped = areOf(right, left);
  if (!isSwapped && !areOf(left, right))
    return std::nullopt;
  return ProductOrder{isSwapped, (isSwapped ? right : left).as(false, dims),
                      (isSwapped ? left : right).as(true, dims)};
}
