//===- Products.cpp - matrix products -------------------------------------===//
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;

/// `x` of shape (M, K)
static std::string describe(const Operand &x) {
  return formatted("{} of shape {}", x.name.empty() ? "a value" : formatted("`{}`", x.name),
                   graph::shapeText(x.type().sizes()));
}

static std::unique_ptr<EvalError> mismatch(const Operand &a, const Operand &b,
                                           const std::string &why) {
  return fail(formatted("`@` of {} and {}: {}", describe(a), describe(b), why), "ValueError");
}

/// A vector as a matrix of one row, or one column.
static std::unique_ptr<EvalError> asMatrix(Tracer &tracer, Operand &x, bool isLeft) {
  llvm::SmallVector<int64_t, 2> dims = {0, -1};
  if (isLeft)
    std::swap(dims[0], dims[1]);
  std::string name = x.name;
  Result matrix = tracer.rearrange(x, dims);
  if (!matrix)
    return matrix.takeError();
  auto error = tracer.operand("@", *matrix, x);
  x.name = name;
  return error;
}

Result Tracer::matmul(const PyValue &lhs, const PyValue &rhs) {
  Operand a, b;
  if (auto error = operand("@", lhs, a))
    return error;
  if (auto error = operand("@", rhs, b))
    return error;
  size_t left = a.type().sizes().size(), right = b.type().sizes().size();
  if (!left || !right)
    return mismatch(a, b, "both need a dimension; numbers are multiplied with `*`");
  mlir::Type element = graph::promoteTypes(a.type().getElement(), b.type().getElement());
  if (!mlir::isa<mlir::FloatType>(element))
    return eval::unsupported("products of integers are not supported; convert with "
                             "`.to(tl.float32)`");
  if (left == 1)
    if (auto error = asMatrix(*this, a, true))
      return error;
  if (right == 1)
    if (auto error = asMatrix(*this, b, false))
      return error;
  Sizes of = a.type().sizes(), with = b.type().sizes();
  const Size &inner = of.back(), &rows = with[with.size() - 2];
  if (inner != rows)
    return mismatch(
        a, b,
        formatted("the columns of the first, `{}`, must be the rows of the second, `{}`{}", inner,
                  rows,
                  right > 1 && with.back() == inner ? ", whose transpose (`.mT`) would do" : ""));
  unsigned dim;
  std::optional<Sizes> shape =
      graph::broadcast(ArrayRef(of).drop_back(2), ArrayRef(with).drop_back(2), dim);
  if (!shape)
    return mismatch(a, b, "the dimensions before the last two must be the same, or 1");
  // With nothing to add up it is a product of elements.
  PyValue product;
  if (inner.isConstant(1)) {
    Result elements =
        map(MapKind::mul, "@", {wrap(a.value, false, a.name), wrap(b.value, false, b.name)});
    if (!elements)
      return elements;
    product = elements.take();
  } else {
    shape->push_back(of[of.size() - 2]);
    shape->push_back(with.back());
    auto type = GraphTensorType::of(builder.getContext(), *shape, element);
    product = wrap(graph::MatmulOp::create(builder, here(), type, a.value, b.value));
  }
  if (left > 1 && right > 1)
    return product;
  Operand whole;
  if (auto error = operand("@", product, whole))
    return error;
  size_t rank = whole.type().sizes().size();
  llvm::SmallVector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i)
    if (!(left == 1 && i == rank - 2) && !(right == 1 && i == rank - 1))
      dims.push_back(i);
  return rearrange(whole, dims);
}
