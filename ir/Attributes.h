//===- Attributes.h - what ops carry besides their own attributes ---------===//
//
// Every discardable attribute of the two dialects, in one place: what front end and
// passes tell later passes about a module, a parameter, a loop or an access. Attributes.cpp
// says which type each has and where it may stand; the dialects verify it, so that a name
// misspelt or left on the wrong op is an error and not a pass that silently does nothing.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_ATTRIBUTES_H
#define TILE_IR_ATTRIBUTES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"

namespace tile {

//===----------------------------------------------------------------------===//
// The module: what was asked for
//===----------------------------------------------------------------------===//

/// #tile.target, #tile.kernel (ir/Kernel.h).
inline constexpr llvm::StringLiteral kTargetAttr = "tile.target";
inline constexpr llvm::StringLiteral kKernelAttr = "tile.kernel";
/// Array of strings: bitcode files whose functions are called.
inline constexpr llvm::StringLiteral kLibrariesAttr = "tile.libraries";
/// Unit: one block may run several programs of the grid.
inline constexpr llvm::StringLiteral kPersistentAttr = "tile.persistent";
/// Unit: the launcher checks alignment and has another kernel for arguments that TMA
/// cannot copy.
inline constexpr llvm::StringLiteral kCheckedLaunchAttr = "tile.checked_launch";
/// Unit: products by the instructions of warps alone.
inline constexpr llvm::StringLiteral kNoWarpgroupDotsAttr = "tile.no_warpgroup_dots";
/// Unit: threads store results, which have no room to be staged for TMA.
inline constexpr llvm::StringLiteral kNoTensorStoresAttr = "tile.no_tensor_stores";
/// i32: bytes of an exchange at a time, at most, outside of loops that multiply; absent: as many as
/// anywhere.
inline constexpr llvm::StringLiteral kExchangeBytesAttr = "tile.exchange_bytes";
/// Unit: what threads copy and read into registers has one slot less.
inline constexpr llvm::StringLiteral kTightSlotsAttr = "tile.tight_slots";
/// Unit: what threads copy has one slot, filled again in the turn that reads it.
inline constexpr llvm::StringLiteral kRefilledSlotsAttr = "tile.refilled_slots";
/// Unit: what threads copy has no slot more for products in flight.
inline constexpr llvm::StringLiteral kNoSpareSlotsAttr = "tile.no_spare_slots";
/// Unit: no copies by TMA.
inline constexpr llvm::StringLiteral kNoTensorMapsAttr = "tile.no_tensor_maps";
/// Bool: contract a * b + c into one rounding (default true).
inline constexpr llvm::StringLiteral kFpFusionAttr = "tile.fp_fusion";
/// Unit, on `tile.load`, `tile.store`, `cta.async_copy`: several accesses to elements beside each
/// other, in one. Left by `tile-adjacent-accesses` for the order of accesses to global memory.
inline constexpr llvm::StringLiteral kJoinedAttr = "tile.joined";
/// Unit: the kernel is a function's, whose programs go through all that their masks let them.
inline constexpr llvm::StringLiteral kWholeRowsAttr = "tile.whole_rows";
/// Unit, on `tile.store`: the first of several that follow each other to parts of the same sectors.
inline constexpr llvm::StringLiteral kInStepAttr = "tile.in_step";
/// i32, on `tile.load`: elements of a vector that each thread needs whole. Left by
/// `tile-window-accesses` for layouts.
inline constexpr llvm::StringLiteral kWholeVectorsAttr = "tile.whole_vectors";
/// Unit: the kernel waits for the grids before it in its stream before it touches
/// memory, so that it may be launched as their dependent.
inline constexpr llvm::StringLiteral kDependentLaunchAttr = "tile.dependent_launch";
/// Unit, with the one before: once the kernel has waited, the grid behind it may start.
inline constexpr llvm::StringLiteral kAnnouncesAttr = "tile.announces";
/// i32: no multiprocessor gets more programs of the kernel's grids than so many, too few for thread
/// blocks that several share.
inline constexpr llvm::StringLiteral kFewProgramsAttr = "tile.few_programs";
/// Unit: a multiprocessor has few programs, so that loops load turns ahead
/// (passes/copies/FewPrograms.h).
inline constexpr llvm::StringLiteral kLoadAheadAttr = "tile.load_ahead";
/// i32: up to so many programs a multiprocessor, a form with the one before is the faster one.
inline constexpr llvm::StringLiteral kGainsAheadAttr = "tile.gains_ahead";
/// i32: the PTX ISA version (times 10) that the instructions used need; absent if the
/// target's own is enough.
inline constexpr llvm::StringLiteral kPtxVersionAttr = "tile.ptx_version";
/// Unit: to give a ring's slot back, every lane of a warp arrives, instead of one for all
/// behind a barrier of the warp.
inline constexpr llvm::StringLiteral kEachLaneArrivesAttr = "tile.each_lane_arrives";
/// Unit: floats stand for numbers of a ring (ir/Algebra.h).
inline constexpr llvm::StringLiteral kAlgebraicAttr = "tile.algebraic";

//===----------------------------------------------------------------------===//
// Parameters of the kernel
//===----------------------------------------------------------------------===//

/// i32: the value (or address) is a multiple of it.
inline constexpr llvm::StringLiteral kDivisibilityAttr = "tile.divisibility";
/// i32: nothing is promised of the value (or address), and the kernel would be faster if it were
/// known to be a multiple of it (passes/layouts/WantedMultiples.h).
inline constexpr llvm::StringLiteral kWantedMultipleAttr = "tile.wanted_multiple";
/// i64 index of the signature entry the argument came from, and i64 array path into a
/// tuple entry.
inline constexpr llvm::StringLiteral kSignatureIndexAttr = "tile.sig_index";
inline constexpr llvm::StringLiteral kSignaturePathAttr = "tile.sig_path";
/// String: the source-level scalar type (`u8`, `*fp32`, ...).
inline constexpr llvm::StringLiteral kSourceTypeAttr = "tile.source_type";
/// A part of a tensor descriptor entry of the signature; string "base", "shape" or
/// "stride", and the i32 dimension of the latter two.
inline constexpr llvm::StringLiteral kDescriptorPartAttr = "tile.desc_part";
inline constexpr llvm::StringLiteral kDescriptorDimAttr = "tile.desc_dim";
/// i32: it is the size of the grid along that axis.
inline constexpr llvm::StringLiteral kNumProgramsAttr = "tile.num_programs";

//===----------------------------------------------------------------------===//
// What tile-interp runs a function with
//===----------------------------------------------------------------------===//

/// On a parameter: the elements behind a pointer (dense), and whether they count as not
/// written yet (unit); or the number.
inline constexpr llvm::StringLiteral kDataAttr = "tile.data";
inline constexpr llvm::StringLiteral kUnwrittenAttr = "tile.unwritten";
inline constexpr llvm::StringLiteral kValueAttr = "tile.value";
/// On the function (array of i64): programs along x, y, z.
inline constexpr llvm::StringLiteral kGridAttr = "tile.grid";

//===----------------------------------------------------------------------===//
// Loops, as their author wants them
//===----------------------------------------------------------------------===//

/// i32: stages of this loop, in place of the kernel's.
inline constexpr llvm::StringLiteral kNumStagesAttr = "tile.num_stages";
/// i32: turns to run together.
inline constexpr llvm::StringLiteral kUnrollAttr = "tile.loop_unroll_factor";

namespace cta {

//===----------------------------------------------------------------------===//
// The module, as passes have made it
//===----------------------------------------------------------------------===//

/// #cta.kernel (ir/Kernel.h).
inline constexpr llvm::StringLiteral kKernelAttr = "cta.kernel";
/// i32: programs that shall share a multiprocessor. How many warps compute was chosen for
/// them, so that the assembler is to leave them the registers.
inline constexpr llvm::StringLiteral kProgramsTogetherAttr = "cta.programs_together";
/// i32: of how many programs a thread block shall be. Absent: one.
inline constexpr llvm::StringLiteral kWantedProgramsAttr = "cta.wanted_programs";
/// Two i32: the axis of the grid, and how many neighbours along it one thread block runs, each
/// by a group of warps.
inline constexpr llvm::StringLiteral kBlockProgramsAttr = "cta.block_programs";
/// Array of i32: axes of the grid along which thread blocks take programs from the end, so that
/// those that run longest start first.
inline constexpr llvm::StringLiteral kFromEndAttr = "cta.from_end";
/// Unit: all programs of the grid run their loops equally long, as far as is known.
inline constexpr llvm::StringLiteral kEqualProgramsAttr = "cta.equal_programs";
/// Unit: one thread of a program runs it, the others leave at once: it computes no blocks.
inline constexpr llvm::StringLiteral kOneThreadAttr = "cta.one_thread";
/// Unit: along the axis whose neighbours share a thread block, programs run longer and longer.
inline constexpr llvm::StringLiteral kGrowingProgramsAttr = "cta.growing_programs";
/// i32, where thread blocks run several equal programs: how many a multiprocessor runs at once
/// of the form in which each has a thread block to itself.
inline constexpr llvm::StringLiteral kProgramsApartAttr = "cta.programs_apart";
/// Array of #cta.split: axes of the grid that launches make two of, one after the other.
inline constexpr llvm::StringLiteral kGridSplitsAttr = "cta.grid_splits";

//===----------------------------------------------------------------------===//
// Loops, as passes have made them
//===----------------------------------------------------------------------===//

/// Unit, on a loop or on what one thread does for it: it starts copies for the first
/// iterations of the next loop.
inline constexpr llvm::StringLiteral kPrologueAttr = "cta.prologue";
/// Unit: it goes through the programs of one thread block.
inline constexpr llvm::StringLiteral kProgramsLoopAttr = "cta.programs";
/// Unit: groups of consumers take its iterations by turns.
inline constexpr llvm::StringLiteral kByTurnsAttr = "cta.by_turns";
/// Unit, on a `cta.read`: threads hold the block from there on, also where a product alone uses it.
inline constexpr llvm::StringLiteral kHeldAttr = "cta.held";
/// Unit: the slot that an iteration's products read is filled again two iterations
/// later, not in the next one.
inline constexpr llvm::StringLiteral kSpareSlotAttr = "cta.spare_slot";
/// Unit: the slot that an iteration's products read is filled again in the same iteration: none of
/// them is under way behind it.
inline constexpr llvm::StringLiteral kRefilledAttr = "cta.refilled";

//===----------------------------------------------------------------------===//
// Tensor maps, which are parameters
//===----------------------------------------------------------------------===//

/// #cta.map: what the map is made from.
inline constexpr llvm::StringLiteral kTensorMapAttr = "cta.tensor_map";
/// Unit: rows of the array may start in the middle of a sector.
inline constexpr llvm::StringLiteral kCutsSectorsAttr = "cta.cuts_sectors";

//===----------------------------------------------------------------------===//
// Accesses and values
//===----------------------------------------------------------------------===//

/// i32: byte offset of the op's place in shared memory, set by the memory pass.
inline constexpr llvm::StringLiteral kScratchOffsetAttr = "cta.scratch_offset";
/// i32, on a reduction that all threads combine together, set by the memory pass with its room:
/// how many neighbouring threads combine a result, a power of two and at most a warp.
inline constexpr llvm::StringLiteral kThreadsOfResultAttr = "cta.threads_of_result";
/// Array of i64: the result, of a remainder the quotient, is equal over aligned runs of elements
/// although the operands are not (a mask against the end of a row): the length of the runs along
/// each axis, powers of two.
inline constexpr llvm::StringLiteral kEqualRunsAttr = "cta.equal_runs";
/// i32, on a load or store in groups (`vector`) whose mask may change inside of a group: for
/// how many elements it does not, a power of two. The true elements of a group are one
/// interval. Absent: a group has one mask.
inline constexpr llvm::StringLiteral kMaskRunAttr = "cta.mask_run";
/// Unit, on a load of a number: the kernel does not write what it reads, so it may be
/// loaded earlier.
inline constexpr llvm::StringLiteral kMayRunAheadAttr = "cta.may_run_ahead";
/// Unit, on an op with one scalar result: computed where it stands, whatever the optimiser
/// thinks.
inline constexpr llvm::StringLiteral kComputedHereAttr = "cta.computed_here";
/// Unit, on a `cta.async_copy`: other programs read the same, so the first cache should
/// keep it.
inline constexpr llvm::StringLiteral kReadByOthersAttr = "cta.read_by_others";
/// #tile.evict, on a copy (cta.async_copy, .tma_load, .tma_store and those to rings): the
/// eviction policy of the access that it replaces.
inline constexpr llvm::StringLiteral kEvictAttr = "cta.evict";
/// i32, on a `cta.tma_store` that is staged in several parts: how many. Two of them have
/// room in its staging area: one is written while the other is copied.
inline constexpr llvm::StringLiteral kStorePartsAttr = "cta.store_parts";
/// Unit, on a `cta.tma_store`: it follows others, and its staging area is its own, so that
/// what the first of them waits for is enough.
inline constexpr llvm::StringLiteral kOwnPlaceAttr = "cta.own_place";
/// Unit, on a ring: each group of warps has a slot to itself, which is filled once.
inline constexpr llvm::StringLiteral kOwnSlotsAttr = "cta.own_slots";

} // namespace cta

/// Checks an attribute of either dialect on `op`, or (`ofParameter`) on a parameter
/// of the function `op`.
llvm::LogicalResult verifyAttribute(mlir::Operation *op, mlir::NamedAttribute attribute,
                                    bool ofParameter);

} // namespace tile

#endif // TILE_IR_ATTRIBUTES_H
