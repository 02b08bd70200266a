//===- MemoryOperands.cpp - operands of accesses to memory ----------------===//
#include "frontend/specialize/builtins/MemoryOperands.h"
#include "frontend/specialize/TensorDescriptor.h"
#include "ir/Attributes.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
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

/// What an address is computed of: the operands that pointers come from, be it as numbers.
static SmallVector<Value> addressesIn(Value address) {
  if (auto argument = dyn_cast<BlockArgument>(address)) {
    auto loop = dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? SmallVector<Value>{init->get()} : SmallVector<Value>();
  }
  Operation *op = address.getDefiningOp();
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return {};
  return llvm::to_vector(op->getOperands());
}

/// The parameter for constant memory that an address is made of, if it is made of no other pointer
/// that may be written through: casts make numbers of pointers, and pointers of those.
static BlockArgument constantIn(Value address) {
  SmallVector<Value> open = {address};
  llvm::DenseSet<Value> seen;
  BlockArgument found;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    auto argument = dyn_cast<BlockArgument>(value);
    auto kernel = argument ? dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp())
                           : func::FuncOp();
    if (!kernel) {
      SmallVector<Value> from = addressesIn(value);
      // An address that memory or a branch has given may be any.
      if (from.empty() && isa<PtrType>(getElementType(value.getType())))
        return {};
      llvm::append_range(open, from);
      continue;
    }
    if (!isa<PtrType>(argument.getType()))
      continue;
    auto type = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kSourceTypeAttr);
    if (!type || !type.getValue().starts_with("*k"))
      return {};
    found = argument;
  }
  return found;
}

bool writable(BuiltinCall &c, const Tensor &ptr) {
  if (!ptr)
    return false;
  if (ptr.type.isConstPointer()) {
    c.fail(formatted("cannot write through {}: it points to constant memory", ptr.type.str()));
    return false;
  }
  BlockArgument constant = constantIn(ptr.value);
  if (!constant)
    return true;
  auto name = dyn_cast<NameLoc>(constant.getLoc());
  c.fail(
      formatted("cannot write through what a cast has made of {}, which points to constant memory",
                name ? "`" + name.getName().str() + "`" : std::string("a parameter")));
  return false;
}

} // namespace tile::specialize
