//===- MemoryOperands.cpp - operands of accesses to memory ----------------===//
#include "frontend/specialize/builtins/MemoryOperands.h"
#include "frontend/specialize/TensorDescriptor.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

std::optional<std::string> choice(BuiltinCall &c, unsigned i) {
  if (c.has(i) && !c[i].isStr() && !tensorIn(c[i]) && !c.flag(i, true))
    return std::string();
  return c.string(i);
}

Tensor pointer(BuiltinCall &c, unsigned i) {
  const Tensor *t = tensorIn(c[i]);
  if (!t || !t->type.isPointer())
    return c.poison(formatted("{} must be a pointer or a block of pointers, got {}{}",
                              c.parameter(i), describe(c[i]),
                              isTensorDescriptor(c[i]) ? "; a descriptor has methods of its own, "
                                                         "such as `d.load(offsets)`"
                                                       : ""));
  return *t;
}

Tensor mask(BuiltinCall &c, unsigned i) {
  Tensor t = c.tensor(i);
  if (t && t.type.isPointer())
    return c.poison(formatted("{} must be boolean, got {}", c.parameter(i), describe(c[i])));
  return c.s.isTrue(t);
}

bool scalarMaskOnly(BuiltinCall &c, const Tensor &ptr, const Tensor &extra, unsigned i) {
  if (ptr.isBlock() || !extra || !extra.isBlock())
    return true;
  c.fail(formatted(
      "{} is {}, but the pointer is a scalar: make a block of pointers (`ptr + tl.arange(...)`)",
      c.parameter(i), describe(extra.type, extra.shape())));
  return false;
}

Tensor storedValue(BuiltinCall &c, unsigned i, const Tensor &ptr) {
  DType element = ptr.type.element();
  DType memory = element.isBool() ? DType(Kind::Int8) : element;
  Tensor value;
  if (tensorIn(c[i]))
    value = c.s.cast(*tensorIn(c[i]), element);
  else if (c[i].isNumber())
    value = c.s.constant(c[i], element);
  else
    return c.poison(
        formatted("{} must be a number or a tensor, got {}", c.parameter(i), describe(c[i])));
  value = c.s.cast(value, memory);
  if (value && value.isBlock() && !ptr.isBlock())
    return c.poison(formatted(
        "{} is {}, but the pointer is a scalar: make a block of pointers (`ptr + tl.arange(...)`)",
        c.parameter(i), describe(value.type, value.shape())));
  return c.s.broadcastTo(value, ptr.shape());
}

} // namespace tile::specialize
