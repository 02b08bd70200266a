//===- Elements.h - what operations of a graph do with elements -----------===//
//
// Element by element, on scalars and blocks alike; types are those of the graph, which
// know signedness.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_ELEMENTS_H
#define TILE_PASSES_GRAPH_ELEMENTS_H

#include "ir/TileDialect.h"
#include "ir/graph/Graph.h"

namespace tile::graph {

inline bool isUnsigned(mlir::Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

class Elements {
public:
  Elements(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  /// As values are computed: f32 for narrower floats, signless integers.
  static mlir::Type computed(mlir::Type element);
  /// As arrays hold them: bools are bytes.
  static mlir::Type stored(mlir::Type element);
  /// A number in the shape of `like`.
  mlir::Value constant(mlir::Value like, mlir::Type element, double number);
  mlir::Value constant(mlir::Type type, double number);
  /// Between types of the graph; floats are not rounded.
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to);
  /// Rounds to `to`, and gives what is computed with.
  mlir::Value round(mlir::Value value, mlir::Type to);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
  mlir::Value toMemory(mlir::Value value, mlir::Type element);
  /// Operands have been converted to `element`; the condition of `where` is i1.
  mlir::Value map(MapKind kind, mlir::Type element, llvm::ArrayRef<mlir::Value> v);
  mlir::Value combine(ReduceKind kind, mlir::Type element, mlir::Value x, mlir::Value y);
  /// What combines with a value to that value.
  mlir::Value identity(mlir::Type type, ReduceKind kind, mlir::Type element);

private:
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  mlir::Value mapFloat(MapKind kind, mlir::Type element, llvm::ArrayRef<mlir::Value> v);
  mlir::Value mapElementary(MapKind kind, mlir::Type element, mlir::Value x);
  mlir::Value mapFunction(MapKind kind, mlir::Type element, mlir::Value x);
  mlir::Value mapInteger(MapKind kind, mlir::Type element, llvm::ArrayRef<mlir::Value> v);
  mlir::Value compare(MapKind kind, mlir::Type element, mlir::Value x, mlir::Value y);
  mlir::Value shift(mlir::Type element, mlir::Value x, mlir::Value by, bool isLeft);
  mlir::Value floorDivide(mlir::Type element, mlir::Value x, mlir::Value y, bool wantsRest);
  mlir::Value floorDivideFloats(mlir::Type element, mlir::Value x, mlir::Value y, bool wantsRest);
  mlir::Value philox(mlir::Value seed, mlir::Value offset);
  mlir::Value logAddExp(mlir::Type element, mlir::Value x, mlir::Value y);
  mlir::Value sigmoidOf(mlir::Type element, mlir::Value x, mlir::Value numerator);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_ELEMENTS_H
