//===- Kernel.h - what a kernel is compiled for, and made into ------------===//
//
// The module's typed attributes, one accessor each: its target, what the author asked
// for (#tile.kernel, never changed), what the passes made of it (#cta.kernel). `op` is
// the module or anything inside it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_KERNEL_H
#define TILE_IR_KERNEL_H

#include "ir/CtaDialect.h"
#include "target/Target.h"
#include "target/Tuning.h"

namespace tile {

/// The chip; `fallbackTarget()` if the module names none.
const Target &targetOf(mlir::Operation *op);
/// The numbers that were measured on it, or on the nearest.
const Tuning &tuningOf(mlir::Operation *op);
/// What was asked for; the defaults if the module does not say.
KernelAttr kernelOf(mlir::Operation *op);

namespace cta {

/// What has been made so far, as #cta.kernel says; one group, no cluster if there is none.
struct Made {
  int32_t groups = 1, cluster = 1, groupBytes = 0, sharedBytes = 0;
};
Made madeOf(mlir::Operation *op);
void setMade(mlir::Operation *op, Made made);
/// Sets one field: `setMade(op, &Made::groups, 2)`.
void setMade(mlir::Operation *op, int32_t Made::*field, int64_t value);

/// i32, of a module: programs that shall share a multiprocessor. How many warps compute was chosen
/// for them, so that the assembler is to leave them the registers.
inline constexpr llvm::StringLiteral kProgramsTogetherAttr = "cta.programs_together";

/// i32, of a module: of how many programs a thread block shall be. Absent: one.
inline constexpr llvm::StringLiteral kWantedProgramsAttr = "cta.wanted_programs";
/// Two i32, of a module: the axis of the grid, and how many neighbours along it one thread block
/// runs, each by a group of warps.
inline constexpr llvm::StringLiteral kBlockProgramsAttr = "cta.block_programs";
/// unit, of a module: all programs of the grid run their loops equally long, as far as is known.
inline constexpr llvm::StringLiteral kEqualProgramsAttr = "cta.equal_programs";
/// i32, of a module whose thread blocks run several equal programs: how many a multiprocessor
/// runs at once of the form in which each has a thread block to itself.
inline constexpr llvm::StringLiteral kProgramsApartAttr = "cta.programs_apart";
/// An array of #cta.split, of a module: axes of the grid that launches make two of, one after the
/// other.
inline constexpr llvm::StringLiteral kGridSplitsAttr = "cta.grid_splits";
/// unit, of a ring: each group of warps has a slot to itself, which is filled once.
inline constexpr llvm::StringLiteral kOwnSlotsAttr = "cta.own_slots";

/// Neighbours that one thread block runs; there is one if nothing was made.
struct BlockPrograms {
  int32_t axis = 0, count = 1;
};
BlockPrograms blockProgramsOf(mlir::Operation *op);
void setBlockPrograms(mlir::Operation *op, BlockPrograms programs);

/// Groups of warps that take blocks by turns, or have a program each, and the warps of one.
unsigned groupsOf(mlir::Operation *op);
unsigned warpsOfGroup(mlir::Operation *op);
/// Threads that compute, of all groups.
unsigned threadsOf(mlir::Operation *op);

} // namespace cta
} // namespace tile

#endif // TILE_IR_KERNEL_H
