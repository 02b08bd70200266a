//===- CtaDialect.h - the cta dialect: layouts and layout conversion ------===//
#ifndef TILE_IR_CTADIALECT_H
#define TILE_IR_CTADIALECT_H

#include "ir/TileDialect.h"
#include "ir/layout/LinearLayout.h"

#include "ir/CtaDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/CtaAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/CtaTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/CtaOps.h.inc"

namespace tile::cta {

/// Byte offset of an op's exchange buffer in shared memory (i32), and the
/// module's total (i32): set by the memory pass.
inline constexpr llvm::StringLiteral kScratchOffsetAttr = "cta.scratch_offset";
inline constexpr llvm::StringLiteral kSharedBytesAttr = "cta.shared_bytes";
/// On a kernel parameter of type `!cta.tensor_map`: the #cta.map it is made from.
inline constexpr llvm::StringLiteral kTensorMapAttr = "cta.tensor_map";

/// Threads that `cta.roles` adds to those of `tile.num_warps`: a warpgroup, of
/// which one thread produces.
inline constexpr unsigned kProducerThreads = 128;

/// The layout of a block. Requires that the type has one.
const layout::LinearLayout &getLayout(mlir::Type type);
bool hasLayout(mlir::Type type);
/// `type` with another layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const layout::LinearLayout &layout);

} // namespace tile::cta

#endif // TILE_IR_CTADIALECT_H
