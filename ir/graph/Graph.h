//===- Graph.h - the graph dialect: types and operations ------------------===//
#ifndef TILE_IR_GRAPH_GRAPH_H
#define TILE_IR_GRAPH_GRAPH_H

#include "ir/graph/Attributes.h"
#include "ir/graph/Size.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/graph/GraphDialect.h.inc"
#include "ir/graph/GraphEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/graph/GraphTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/graph/GraphAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/graph/GraphOps.h.inc"

namespace tile::graph {

/// The type of a value of a graph.
inline GraphTensorType typeOf(mlir::Value value) {
  return mlir::cast<GraphTensorType>(value.getType());
}
/// Its dimensions.
inline Sizes sizesOf(mlir::Value value) { return typeOf(value).sizes(); }

/// How many operands the function takes.
unsigned arity(MapKind kind);
/// A comparison, or a question with yes or no for an answer.
bool givesBool(MapKind kind);
/// `<<` or `>>`.
bool isShift(MapKind kind);
/// A function that has a meaning for floats only: integers become f32.
bool needsFloat(MapKind kind);
/// The shape that two broadcast to; nothing if sizes differ and neither is 1. `dim` is
/// then the dimension, counted from the last.
std::optional<Sizes> broadcast(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b, unsigned &dim);
/// The type that operands of an operation are converted to: floats win over integers, the
/// wider over the narrower, of f16 and bf16 comes f32, and of integers with a sign and without one
/// what holds both.
mlir::Type promoteTypes(mlir::Type a, mlir::Type b);
/// The type in which elements are computed: f32 for narrower floats.
mlir::Type computeType(mlir::Type element);
/// As functions of tensors call it: "cumsum", "cummax".
llvm::StringRef scanName(ReduceKind kind);
/// As kernels are written: "fp16", "int32", "uint8".
std::string spelledType(mlir::Type element);
/// In memory.
unsigned bytesOf(mlir::Type element);

} // namespace tile::graph

#endif // TILE_IR_GRAPH_GRAPH_H
