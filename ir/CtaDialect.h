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
/// On the module (i32): what a thread block of the target can have of it.
inline constexpr llvm::StringLiteral kMaxSharedBytesAttr = "cta.max_shared_bytes";
/// On a loop (unit): it starts copies for the first iterations of the next one.
inline constexpr llvm::StringLiteral kPrologueAttr = "cta.prologue";
/// How remarks on loads start that are no asynchronous copies; the reason follows.
inline constexpr llvm::StringLiteral kNotCopied = "not copied by cp.async: ";
/// On a kernel parameter of type `!cta.tensor_map`: the #cta.map it is made from.
inline constexpr llvm::StringLiteral kTensorMapAttr = "cta.tensor_map";

/// On the module (i32): thread blocks of a cluster, as wanted and as made.
inline constexpr llvm::StringLiteral kNumCtasAttr = "tile.num_ctas";
inline constexpr llvm::StringLiteral kClusterAttr = "cta.cluster";
/// On a loop (unit): it goes through the programs of one thread block.
inline constexpr llvm::StringLiteral kProgramsLoopAttr = "cta.programs";

/// On the module (string): how warps that compute share the work, as wanted:
/// `cooperative`, `pingpong` or `auto`.
inline constexpr llvm::StringLiteral kWarpRolesAttr = "tile.warp_roles";
/// On the module (i32): groups of consumers, each of `tile.num_warps`.
inline constexpr llvm::StringLiteral kGroupsAttr = "cta.groups";
/// On a loop (unit): groups of consumers take its iterations by turns.
inline constexpr llvm::StringLiteral kByTurnsAttr = "cta.by_turns";
/// On the module (i32): bytes of shared memory that each group has to itself.
inline constexpr llvm::StringLiteral kGroupBytesAttr = "cta.group_bytes";
/// `cta.groups` of the module, or 1.
unsigned groupsOf(mlir::ModuleOp module);

/// Threads that `cta.roles` adds to those of `tile.num_warps`: a warpgroup, of
/// which one thread produces.
inline constexpr unsigned kProducerThreads = 128;

/// `cta.slots` and the slots of rings start at multiples of this many bytes, the
/// period of the swizzles.
inline constexpr int64_t kSlotAlignment = 1024;

/// The last dimension of `map` along which a block of type `buffer` falls into as
/// many equal runs of boxes as a cluster has thread blocks.
std::optional<unsigned> dimensionToShare(MapAttr map, BufferType buffer,
                                         llvm::ArrayRef<int32_t> dims, int64_t cluster);

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
