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

#include "ir/TileDialect.h.inc"
#include "ir/TileEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/TileTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/TileAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/TileOps.h.inc"

namespace tile {

/// Attribute names on the kernel's `func.func`, in one place.
/// Argument attribute, i32: the value (or address) is a multiple of it.
inline constexpr llvm::StringLiteral kDivisibilityAttr = "tile.divisibility";
/// Argument attribute, i64 index of the signature entry the argument came
/// from, and i64 array path into a tuple entry.
inline constexpr llvm::StringLiteral kSignatureIndexAttr = "tile.sig_index";
inline constexpr llvm::StringLiteral kSignaturePathAttr = "tile.sig_path";
/// Argument attribute, string: the source-level scalar type (`u8`, `*fp32`, ...).
inline constexpr llvm::StringLiteral kSourceTypeAttr = "tile.source_type";
/// Argument attribute: a part of a tensor descriptor entry of the signature;
/// string "base", "shape" or "stride", and the i32 dimension of the latter two.
inline constexpr llvm::StringLiteral kDescriptorPartAttr = "tile.desc_part";
inline constexpr llvm::StringLiteral kDescriptorDimAttr = "tile.desc_dim";
/// Module attribute, array of strings: bitcode files whose functions are called.
inline constexpr llvm::StringLiteral kLibrariesAttr = "tile.libraries";
/// Module attribute, i32: warps per program.
inline constexpr llvm::StringLiteral kNumWarpsAttr = "tile.num_warps";
/// Module attribute, i32: pipeline stages asked for.
/// On the module (unit): one block may run several programs of the grid.
inline constexpr llvm::StringLiteral kPersistentAttr = "tile.persistent";
/// On a parameter (i32): it is the size of the grid along that axis.
inline constexpr llvm::StringLiteral kNumProgramsAttr = "tile.num_programs";
/// On the module (unit): the launcher checks alignment and has another kernel
/// for arguments that TMA cannot copy.
inline constexpr llvm::StringLiteral kCheckedLaunchAttr = "tile.checked_launch";
/// On the module (unit): products by the instructions of warps alone.
inline constexpr llvm::StringLiteral kNoWarpgroupDotsAttr = "tile.no_warpgroup_dots";
/// On the module (unit): no copies by TMA.
inline constexpr llvm::StringLiteral kNoTensorMapsAttr = "tile.no_tensor_maps";
inline constexpr llvm::StringLiteral kNumStagesAttr = "tile.num_stages";
/// Module attribute, bool: contract a * b + c into one rounding (default true).
inline constexpr llvm::StringLiteral kFpFusionAttr = "tile.fp_fusion";
/// Module attribute, unit: the kernel waits for the grids before it in its stream
/// before it touches memory, so that it may be launched as their dependent.
inline constexpr llvm::StringLiteral kDependentLaunchAttr = "tile.dependent_launch";
/// Module attribute, i32: the PTX ISA version (times 10) that the instructions
/// used need; absent if the target's own is enough.
inline constexpr llvm::StringLiteral kPtxVersionAttr = "tile.ptx_version";
/// Module attribute, string: `sm_90a`.
inline constexpr llvm::StringLiteral kTargetAttr = "tile.target";

/// The element type of a scalar or block type.
mlir::Type getElementType(mlir::Type type);
/// `type` with its element type (or itself, if scalar) replaced; keeps shape
/// and encoding.
mlir::Type withElementType(mlir::Type type, mlir::Type element);
/// The size in bytes of an element in memory (pointers 8, i1 1).
unsigned getElementBytes(mlir::Type element);

} // namespace tile

#endif // TILE_IR_TILEDIALECT_H
