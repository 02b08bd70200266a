//===- ElementOperands.cpp - functions of elements: operands and results --===//
#include "frontend/specialize/builtins/ElementOperands.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

bool elementOperands(BuiltinCall &c, ArrayRef<PyValue> values, SmallVectorImpl<Tensor> &tensors) {
  for (const PyValue &value : values) {
    if (!tensorIn(value) && !value.isNumber()) {
      c.fail(formatted("the arguments must be tensors or numbers, got {}", describe(value)));
      return false;
    }
    tensors.push_back(c.s.tensor(value));
    if (!tensors.back())
      return false;
  }
  SmallVector<Tensor *> pointers;
  for (Tensor &t : tensors)
    pointers.push_back(&t);
  return tensors.empty() || c.s.broadcast(pointers);
}

std::optional<unsigned> packOf(BuiltinCall &c, unsigned i) {
  auto pack = c.integerOr(i, 1);
  if (pack && (*pack < 1 || *pack > 64 || !llvm::isPowerOf2_64(*pack))) {
    c.fail(formatted("`pack` must be a power of two up to 64, got {}", *pack));
    return std::nullopt;
  }
  return pack ? std::optional(unsigned(*pack)) : std::nullopt;
}

PyValue oneOrTuple(BuiltinCall &c, bool single, ValueRange values, ArrayRef<DType> types) {
  if (single)
    return c.s.wrap({values[0], types[0]});
  std::vector<PyValue> results;
  for (auto [value, type] : llvm::zip(values, types))
    results.push_back(c.s.wrap({value, type}));
  return PyValue::tuple(std::move(results));
}

} // namespace tile::specialize
