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

namespace tile {

struct Tuning; // target/Tuning.h

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
