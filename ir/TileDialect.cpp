//===- TileDialect.cpp - registration, types and shared helpers -----------===//
#include "ir/TileDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

#include "ir/TileDialect.cpp.inc"
#include "ir/TileEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/TileTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/TileAttrs.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/TileOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

Type tile::getElementType(Type type) {
  if (auto block = dyn_cast<RankedTensorType>(type))
    return block.getElementType();
  return type;
}

Type tile::withElementType(Type type, Type element) {
  if (auto block = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(block.getShape(), element, block.getEncoding());
  return element;
}

unsigned tile::getElementBytes(Type element) {
  if (isa<PtrType>(element))
    return 8;
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}
