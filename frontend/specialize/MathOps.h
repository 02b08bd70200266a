//===- MathOps.h - what the builtin families share ------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_MATHOPS_H
#define TILE_FRONTEND_SPECIALIZE_MATHOPS_H

#include "frontend/specialize/Builtins.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tile::specialize {

/// An argument of type fp32 or fp64; anything else is an error.
Tensor fp32Or64(BuiltinCall &call, unsigned i);

/// A function of one fp32 or fp64 operand.
template <typename Op> PyValue floatFunction(BuiltinCall &call) {
  Tensor x = fp32Or64(call, 0);
  return x ? call.s.wrap({call.s.create<Op>(x.value), x.type}) : PoisonValue::get();
}

/// The rest of libdevice: conversions with a direction, bits, compositions.
void addConversionBuiltins(BuiltinTable &table);
/// And what the device library computes (BuiltinsDevice.cpp).
void addDeviceBuiltins(BuiltinTable &table);

PyValue absolute(BuiltinCall &call);
Tensor highProduct(Specializer &s, Tensor x, Tensor y);
/// x / y of one float type; exactly rounded if `exact`.
Tensor divideFloats(Specializer &s, Tensor x, Tensor y, bool exact);

/// The sum or the maximum along an axis (Reductions), for what is built on them.
Tensor sumAlong(Specializer &s, const Tensor &x, int64_t axis);
Tensor extremumAlong(Specializer &s, MinMax which, const Tensor &x, int64_t axis);
/// Puts the dimension back that a reduction has removed.
Tensor keepDimension(Specializer &s, const Tensor &x, int64_t axis);
/// The index of each element along the axis of a block, as int32.
Tensor indicesAlong(Specializer &s, llvm::ArrayRef<int64_t> shape, int64_t axis);
/// The elements of x at these indices along the axis.
Tensor pickAlong(Specializer &s, const Tensor &x, const Tensor &index, int64_t axis);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_MATHOPS_H
