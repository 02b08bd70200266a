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

/// What has been made so far; one group, no cluster if the module does not say.
KernelAttr madeOf(mlir::Operation *op);
void setMade(mlir::Operation *op, KernelAttr made);
/// `made` with one part replaced.
KernelAttr withGroups(KernelAttr made, int32_t groups);
KernelAttr withCluster(KernelAttr made, int32_t cluster);
KernelAttr withGroupBytes(KernelAttr made, int32_t bytes);
KernelAttr withSharedBytes(KernelAttr made, int32_t bytes);

/// Groups of warps that take blocks by turns, and the warps of each.
unsigned groupsOf(mlir::Operation *op);
unsigned warpsOfGroup(mlir::Operation *op);
/// Threads that compute, of all groups.
unsigned threadsOf(mlir::Operation *op);

} // namespace cta
} // namespace tile

#endif // TILE_IR_KERNEL_H
