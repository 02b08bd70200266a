//===- Writable.cpp - memory that nobody writes ---------------------------===//
//
// What the compiler may load early, or through another cache, because a parameter points to
// constant memory, is not written either through what casts have made of that pointer.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Writable.h"
#include "ir/Attributes.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

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
  std::string of = name ? formatted("`{}`", name.getName().str()) : std::string("a parameter");
  c.fail(formatted(
      "cannot write through what a cast has made of {}, which points to constant memory", of));
  return false;
}

} // namespace tile::specialize
