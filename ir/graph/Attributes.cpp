//===- Attributes.cpp - which attribute stands where, and what it is ------===//
#include "ir/graph/Attributes.h"
#include "ir/AttributeRules.h"
#include "ir/graph/Graph.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;

static const AttributeRules &rules() {
  static const AttributeRules table({
      {kNameAttr, onParameter, is<StringAttr>, "a string"},
      {kNumberAttr, onParameter, is<UnitAttr>, "unit"},
      {kRequiresAttr, on<FunctionOpInterface>, isArrayOf<StringAttr>, "an array of strings"},
      {kNoneAttr, on<FunctionOpInterface>, is<UnitAttr>, "unit"},
      {kTupleAttr, on<FunctionOpInterface>, is<UnitAttr>, "unit"},
      {kUpdatesAttr, on<FunctionOpInterface>, is<DenseI64ArrayAttr>, "an array of i64"},
      {kOtherShapesAttr, on<FunctionOpInterface>, is<DenseI64ArrayAttr>, "an array of i64"},
      {kNoGradientAttr, onAny, is<UnitAttr>, "unit"},
      {kOwnAttr, on<MapOp>, is<IntegerAttr>, "a number"},
      {kChangesAttr, on<LaunchOp>, is<DenseI64ArrayAttr>, "an array of i64"},
      {kUnchainedAttr, on<MatmulOp>, is<StringAttr>, "a string"},
      {kChainedAttr, on<MatmulOp>, is<UnitAttr>, "unit"},
      {kOfPlacesAttr, on<MapOp>, is<UnitAttr>, "unit"},
      {kInPlaceAttr, on<KernelOp>, is<DenseI64ArrayAttr>, "an array of i64"},
      {kSideBySideAttr, on<KernelOp>, is<UnitAttr>, "unit"},
      {kNumbersAttr, on<KernelOp>, is<DenseI64ArrayAttr>, "an array of i64"},
  });
  return table;
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return rules().verify(op, attribute, /*ofParameter=*/false);
}
LogicalResult GraphDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                     NamedAttribute attribute) {
  return rules().verify(op, attribute, /*ofParameter=*/true);
}
