//===- Affine.cpp - indices as base + constant ----------------------------===//
//
// The registers of a thread hold elements whose indices differ by constants.
// Each integer value that the lowering emits may be remembered as
// `base + offset`; sums and constant multiples of such values share one
// emitted base. The values themselves stay exact (two's complement addition is
// associative); only addresses rely on the base not wrapping before the
// constant is added, as every index that stays within a buffer does.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/core/Core.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

Affine Core::affine(Value v) const {
  auto it = affines.find(v);
  return it == affines.end() ? Affine{v, 0} : it->second;
}

Value Core::materialize(Affine a, Type type) {
  if (a.base && a.offset == 0)
    return a.base;
  // No key of a product or of a sum of two values has an empty second place.
  auto key = std::make_tuple(a.base, Value(), a.offset);
  if (Value known = a.base ? sums.lookup(key) : Value())
    return known;
  Value c = in.constant(type, b.getIntegerAttr(type, APInt(bitWidth(type), a.offset, true, true)));
  Value v = a.base ? LLVM::AddOp::create(b, in.getLoc(), a.base, c).getResult() : c;
  affines[v] = a;
  if (a.base)
    sums[key] = v;
  return v;
}

Value Core::addI(Value a, Value c) {
  Affine x = affine(a), y = affine(c);
  if (!x.base && !y.base)
    return materialize({Value(), x.offset + y.offset}, a.getType());
  if (!x.base && x.offset == 0)
    return c;
  if (!y.base && y.offset == 0)
    return a;
  return LLVM::AddOp::create(b, in.getLoc(), a, c);
}

Value Core::plus(Value a, int64_t constant) {
  if (constant == 0)
    return a;
  Value c = a.getType().isInteger(64) ? in.i64(constant) : in.i32(int32_t(constant));
  return LLVM::AddOp::create(b, in.getLoc(), a, c);
}
