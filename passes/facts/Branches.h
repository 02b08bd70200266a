//===- Branches.h - work of which a program does one or the other -*- C++ -*-===//
//
// Programs of one grid that are shared out among two kinds of work, `if pid < n: ... else: ...`,
// never do both: what one kind has in shared memory may lie where the other has its own.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_BRANCHES_H
#define TILE_PASSES_FACTS_BRANCHES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tile {

/// Whether a program that comes by one of them never comes by the other: they stand in the two
/// branches of a condition that is no part of a loop.
bool areInOtherBranches(mlir::Operation *first, mlir::Operation *second);

/// The same of two rings or the like, of all operations that use them. Warps with different roles
/// go the same way: of these, each is asked for itself.
bool areUsedInOtherBranches(mlir::Operation *first, mlir::Operation *second);

/// Where buffers of so many `bytes` begin, one behind the other, but those that `areApart` in one
/// place; `end` is where the last of them ends.
llvm::SmallVector<int64_t> placesOf(llvm::ArrayRef<int64_t> bytes,
                                    llvm::function_ref<bool(size_t, size_t)> areApart,
                                    int64_t &end);

} // namespace tile

#endif // TILE_PASSES_FACTS_BRANCHES_H
