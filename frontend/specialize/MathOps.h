//===- MathOps.h - what the builtin families share ------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_MATHOPS_H
#define TILE_FRONTEND_SPECIALIZE_MATHOPS_H

#include "frontend/specialize/Builtins.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tile::specialize {

/// An argument of type fp32 or fp64; anything else is an error.
Tensor fp32Or64(BuiltinCall &call, unsigned i);

/// A function of one fp32 or fp64 operand. As a method it takes narrower floats
/// too, and gives them: `half.exp()`.
template <typename Op> PyValue floatFunction(BuiltinCall &call) {
  const Tensor *given = tensorIn(call[0]);
  bool isNarrow =
      call.isMember && given && given->type.isStandardFloating() && given->type.bitWidth() < 32;
  Tensor x = isNarrow ? call.s.cast(*given, eval::DType::Kind::Float32) : fp32Or64(call, 0);
  if (!x)
    return PoisonValue::get();
  Tensor result{call.s.create<Op>(x.value), x.type};
  return call.s.wrap(isNarrow ? call.s.cast(result, given->type) : result);
}

/// The rest of libdevice: conversions with a direction, bits, compositions.
void addConversionBuiltins(BuiltinTable &table);
/// And what the device library computes (BuiltinsDevice.cpp).
void addDeviceBuiltins(BuiltinTable &table);

/// A call of the device library: `name` without prefix, and without the "f" of fp32.
Tensor callLibrary(Specializer &s, llvm::StringRef name, llvm::ArrayRef<Tensor> args,
                   const DType &result);

PyValue absolute(BuiltinCall &call);
Tensor highProduct(Specializer &s, Tensor x, Tensor y);
/// x / y of one float type; exactly rounded if `exact`.
Tensor divideFloats(Specializer &s, Tensor x, Tensor y, bool exact);

/// The sum or the maximum along an axis (Reductions), for what is built on them.
Tensor sumAlong(Specializer &s, const Tensor &x, int64_t axis);
Tensor extremumAlong(Specializer &s, MinMax which, const Tensor &x, int64_t axis);
/// The type of an extremum: narrow values are widened before it is taken.
DType extremumType(const DType &type);
/// Puts the dimension back that a reduction has removed.
Tensor keepDimension(Specializer &s, const Tensor &x, int64_t axis);
/// The index of each element along the axis of a block, as int32.
Tensor indicesAlong(Specializer &s, llvm::ArrayRef<int64_t> shape, int64_t axis);
/// The elements of x at these indices along the axis.
Tensor pickAlong(Specializer &s, const Tensor &x, const Tensor &index, int64_t axis);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_MATHOPS_H
