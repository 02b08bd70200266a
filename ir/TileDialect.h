//===- TileDialect.h - the tile dialect: types, attributes and operations -===//
#ifndef TILE_IR_TILEDIALECT_H
#define TILE_IR_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/Attributes.h"
#include "ir/WarpRolesParameter.h"

namespace tile {
struct Target;
}

#include "ir/TileDialect.h.inc"
#include "ir/TileEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/TileTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/TileAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/TileOps.h.inc"

namespace tile {

/// The element type of a scalar or block type.
mlir::Type getElementType(mlir::Type type);
/// `type` with its element type (or itself, if scalar) replaced; keeps shape
/// and encoding.
mlir::Type withElementType(mlir::Type type, mlir::Type element);
/// The size in bytes of an element in memory (pointers 8, i1 1).
unsigned getElementBytes(mlir::Type element);

} // namespace tile

#endif // TILE_IR_TILEDIALECT_H
