//===- Backward.h - derivatives, by going back through what was traced ----===//
//
// From the last operation to the first, with the derivative of the result by each value.
// Derivatives are ordinary operations, so they are simplified and fused like all others. A
// derivative may have size 1 along dimensions in which it repeats, and fewer dimensions.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TENSORS_BACKWARD_H
#define TILE_FRONTEND_TENSORS_BACKWARD_H

#include "frontend/tensors/Derivatives.h"

namespace tile::tensors {

/// Whether it can have a derivative.
inline bool isFloat(mlir::Value v) {
  return mlir::isa<mlir::FloatType>(graph::typeOf(v).getElement());
}

/// Goes back through operations.
class Backward : Derivatives {
public:
  Backward(Tracer &tracer) : Derivatives(tracer) {}

  /// The derivatives of `result` by each target, from the operations behind `first`.
  Result run(mlir::Value result, llvm::ArrayRef<mlir::Value> targets, mlir::Operation *first);

private:
  V value(mlir::Value v) { return tracer.wrap(v); }
  V add(V x, V y) { return map(MapKind::add, {x, y}); }
  V sub(V x, V y) { return map(MapKind::sub, {x, y}); }
  V mul(V x, V y) { return map(MapKind::mul, {x, y}); }
  V div(V x, V y) { return map(MapKind::div, {x, y}); }
  V of(MapKind kind, V x) { return map(kind, {x}); }
  Sizes sizesOf(const V &v) { return operand(v).type().sizes(); }

  void give(mlir::Value to, V derivative);
  V narrowed(V derivative, llvm::ArrayRef<Size> whole, llvm::ArrayRef<Size> to);
  V expanded(V derivative, llvm::ArrayRef<Size> to);
  void through(mlir::Operation *op, V g);
  void throughReduce(graph::ReduceOp op, V g);
  void throughRearrange(graph::RearrangeOp op, V g);
  void throughMatmul(graph::MatmulOp op, V g);
  bool throughOrdered(graph::MatmulOp op, V g);
  void giveOrdered(mlir::Value operand, llvm::ArrayRef<int64_t> view, V derivative);
  V turned(const V &v);
  void throughGather(graph::GatherOp op, V g);
  void throughJoin(graph::JoinOp op, V g);
  void unsupported(const std::string &what);

  // Functions of elements (MapGradient.cpp).
  void throughMap(graph::MapOp op, V g);
  V ofUnary(MapKind kind, V x, V r, V g);
  V ofActivation(MapKind kind, V x, V r, V g);
  V slopeOfGelu(V x);
  V slopeOfGeluTanh(V x);

  llvm::DenseMap<mlir::Value, V> derivatives;
  llvm::DenseSet<mlir::Value> wanted; ///< values that depend on a target
};

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_BACKWARD_H
