//===- Elementwise.h - arithmetic, element by element ---*- C++ -*-===//
//
// What an operation makes of its operands' registers: one result for each register, or several
// narrow elements that lie in one register at a time (PackedElements.cpp). Registers that hold
// copies are computed once. Integers that are known to be others and a constant stay so
// (AffineArithmetic.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_ELEMENTWISE_H
#define TILE_PASSES_LOWERING_ELEMENTWISE_H

#include "passes/lowering/core/Casts.h"

namespace tile::lowering {

class Elementwise {
public:
  explicit Elementwise(Core &core);

  /// An operation of arith, math or tile; an error of what is none that works element by element.
  mlir::LogicalResult lower(mlir::Operation *op);

private:
  /// Several narrow elements at a time; nothing if `op` or where its operands lie does
  /// not allow that (PackedElements.cpp).
  std::optional<Registers> lowerPacked(mlir::Operation *op);
  std::optional<Registers> castPairs(FpCastOp op);
  /// bf16 that share registers as f32.
  std::optional<Registers> widenHalves(mlir::arith::ExtFOp op);
  std::optional<Registers> widenPairs(llvm::ArrayRef<mlir::Value> elements, bool isE4M3,
                                      mlir::Type to);
  Registers narrowPairs(llvm::ArrayRef<mlir::Value> elements, bool isE4M3);
  /// Integers of few bits, or known to be small, as floats; nothing for others (SmallIntegers.cpp).
  std::optional<Registers> writeDigits(mlir::Operation *op);
  /// Null if nothing is gained (AffineArithmetic.cpp).
  mlir::Value tryAffine(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value tryWider(mlir::Operation *op, mlir::Value v);
  /// The result for one register; null if the operation is not elementwise.
  mlir::Value emitScalar(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value emitArith(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value emitInteger(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value emitReal(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value emitMath(mlir::Operation *op, mlir::ValueRange operands); // Math.cpp

  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
  Casts casts;
  bool fuseMulAdd = true;
};

/// Whether this is 1 / (1 + e^x) or the like: no division needs to care for denormal
/// divisors there, and what rcp.approx.ftz loses is below 2^-126.
bool isReciprocalOfLarge(mlir::arith::DivFOp op);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_ELEMENTWISE_H
