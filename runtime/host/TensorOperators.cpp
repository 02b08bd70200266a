//===- TensorOperators.cpp - operators of tensors -----------------------===//
#include "frontend/eval/WorkMeter.h"
#include "runtime/host/Functions.h"
#include "runtime/host/Tensor.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using eval::fail;
using llvm::ArrayRef;
using Kind = PyValue::Kind;

Result Tensor::unary(ast::UnaryOp op) {
  Array array;
  if (auto error = values(array))
    return error;
  if (op == ast::UnaryOp::Not) {
    Result yes = truth();
    return yes ? Result(PyValue::boolean(!yes->asBool())) : std::move(yes);
  }
  if (op == ast::UnaryOp::Invert && array.isFloat())
    return fail("`~` needs a tensor of integers or booleans");
  if (array.kind == Array::Kind::Bool && op != ast::UnaryOp::Invert)
    array.kind = Array::Kind::Int;
  if (op == ast::UnaryOp::Neg)
    for (double &x : array.reals)
      x = -x;
  for (int64_t &x : array.ints)
    if (op == ast::UnaryOp::Neg)
      x = int64_t(0 - uint64_t(x));
    else if (op == ast::UnaryOp::Invert)
      x = array.kind == Array::Kind::Bool ? !x : ~x;
  return value(context(), array);
}

Result Tensor::binary(ast::BinaryOp op, const PyValue &other, bool reflected) {
  Array own, operand;
  if (auto error = toArray(other, operand))
    return error;
  if (auto error = values(own))
    return error;
  if (reflected)
    std::swap(own, operand);
  return arrayBinary(context(), op, std::move(own), std::move(operand));
}

Result Tensor::compare(ast::CompareOp op, const PyValue &other) {
  Array own, operand;
  if (auto error = toArray(other, operand))
    return error;
  if (auto error = values(own))
    return error;
  return arrayCompare(context(), op, std::move(own), std::move(operand));
}

Result Tensor::truth() {
  if (size() != 1)
    return fail(
        formatted("the truth of a tensor of shape {} is ambiguous: use `.any()` or `.all()`",
                  toString(dims)),
        "ValueError");
  Array array;
  if (auto error = values(array))
    return error;
  return PyValue::boolean(array.truth(0));
}

Result Tensor::number() {
  if (size() != 1)
    return fail(
        formatted("a tensor of shape {} is no number: only one of one element is", toString(dims)),
        "ValueError");
  return onlyValue();
}

Result Tensor::length() {
  if (dims.empty())
    return fail("a scalar tensor has no length");
  return PyValue::integer(dims[0]);
}

Result Tensor::iterate(std::vector<PyValue> &elements) {
  if (extrema)
    return extrema->iterate(elements);
  if (dims.empty())
    return fail("a scalar tensor cannot be iterated");
  if (auto error = eval::Work::checkLength(dims[0]))
    return error;
  if (!eval::Work::spend(dims[0]))
    return eval::Work::error();
  ArrayRef<int64_t> shape = dims, strides = steps;
  for (int64_t i = 0; i < dims[0]; ++i) {
    Result row =
        view(shape.drop_front(), strides.drop_front(), Extent(start) + Extent(i) * steps[0]);
    if (!row)
      return row;
    elements.push_back(row.take());
  }
  return PyValue();
}
