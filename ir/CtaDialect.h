//===- CtaDialect.h - the cta dialect: layouts and layout conversion ------===//
#ifndef TILE_IR_CTADIALECT_H
#define TILE_IR_CTADIALECT_H

#include "ir/TileDialect.h"
#include "ir/layout/LinearLayout.h"
#include "target/Target.h"

#include "ir/CtaDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/CtaAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/CtaTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/CtaOps.h.inc"

namespace tile::cta {

/// Threads that `cta.roles` adds to `consumers` that compute, of which one produces: a warpgroup
/// where registers are dealt out between roles, which goes by warpgroups; beside a single
/// warpgroup, which has none to gain, a warp.
constexpr unsigned producerThreads(unsigned consumers) {
  return consumers > kWarpgroupThreads ? kWarpgroupThreads : 32;
}

/// `cta.slots` and the slots of rings start at multiples of this many bytes, the
/// period of the swizzles.
inline constexpr int64_t kSlotAlignment = 1024;

/// The last dimension of `map` along which a block of type `buffer` falls into as
/// many equal runs of boxes as a cluster has thread blocks.
std::optional<unsigned> dimensionToShare(MapAttr map, BufferType buffer,
                                         llvm::ArrayRef<int32_t> dims, int64_t cluster);

/// What no operation can see by itself: that the rings in `root` are used as the
/// constraints of `cta.ring` say, and that what threads copy by themselves is committed.
/// Reports the first violation of each ring.
llvm::LogicalResult verifyProtocol(mlir::Operation *root);
/// Whether warpgroup products can read `buffer` as an operand whose dimension `summedDim` is the
/// one that is summed over (1 of the left operand, 0 of the right one).
bool isReadByWarpgroups(BufferType buffer, unsigned summedDim);

/// The layout of a block. Requires that the type has one.
const layout::LinearLayout &getLayout(mlir::Type type);
bool hasLayout(mlir::Type type);
/// `type` with another layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const layout::LinearLayout &layout);

} // namespace tile::cta

#endif // TILE_IR_CTADIALECT_H
