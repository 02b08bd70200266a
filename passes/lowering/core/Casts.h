//===- Casts.h - conversions between element types --------------*- C++ -*-===//
//
// One element at a time: what packs several is in PackedElements.cpp. Floats of 8 bits are integers
// in LLVM, so that what they mean is named while it is known, by the operation's types.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_CORE_CASTS_H
#define TILE_PASSES_LOWERING_CORE_CASTS_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

class Casts {
public:
  explicit Casts(Core &core) : core(core), in(core.in), b(core.b) {}

  /// What `op` makes of one element; null if it converts nothing.
  mlir::Value emit(mlir::Operation *op, mlir::ValueRange v);
  /// A float as one of type `to` (of the IR: 8-bit floats are named).
  mlir::Value emitFpCast(mlir::Value x, mlir::Type to, Rounding rounding);
  /// An element of type `from` (of the IR; integers have a sign) in a wider type.
  mlir::Value widen(mlir::Value x, mlir::Type from, mlir::Type to);
  /// A byte of fp8 as f16 or f32, whichever is nearer.
  mlir::Value widenFp8(mlir::Value x, bool e4m3);

private:
  mlir::Value emitToInteger(mlir::Value x, mlir::Type to, bool isSigned);
  mlir::Value emitToHalfWord(mlir::Value x, bool isSigned);

  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_CORE_CASTS_H
