//===- SharedAccess.h - blocks in and out of shared memory ------*- C++ -*-===//
//
// A block that lies in shared memory under some arrangement is read and written by vectors, or by
// 8 x 8 matrices where its layout allows; the plan says which. Of threads that hold copies, one
// writes. Nobody waits here: barriers are those of the operation.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_CORE_SHAREDACCESS_H
#define TILE_PASSES_LOWERING_CORE_SHAREDACCESS_H

#include "passes/lowering/core/Core.h"

namespace tile::layout {
struct MatrixAccess;
struct SharedLayout;
} // namespace tile::layout

namespace tile::lowering {

/// A block in shared memory on its way into registers.
struct SharedBlock {
  /// What one instruction brings, and the register of `addresses` that says from
  /// where.
  struct Group {
    unsigned address;
    llvm::SmallVector<int32_t, 8> registers;
  };
  mlir::Type type;
  mlir::Value base;
  layout::LinearLayout addresses; ///< offsets of whoever points
  unsigned numMatrices = 0;       ///< of one instruction; 0: by vectors
  bool isTransposed = false;
  llvm::SmallVector<Group> groups;
  llvm::SmallVector<unsigned> groupOf; ///< each register's
  Registers registers;                 ///< null until they are loaded
  mlir::Value reads; ///< a variable that something of all that is loaded joins, or null
};

/// A block that threads find in shared memory at `offsets` from `base`, by
/// vectors of at most 2^maxVectorLog2 elements or by matrices.
SharedBlock makeSharedBlock(mlir::Type type, const layout::LinearLayout &offsets,
                            unsigned maxVectorLog2, const layout::MatrixAccess *matrices,
                            mlir::Value base);
/// Loads register `reg`, with those that the same instruction brings.
void loadInto(Core &core, SharedBlock &block, unsigned reg);
Registers loadAll(Core &core, SharedBlock &block);

/// Writes registers of threads that hold a block by `holders` where it lies as `shared` says; by
/// matrices if these are given.
void storeBlock(Core &core, const Registers &regs, const layout::LinearLayout &holders,
                const layout::SharedLayout &shared, const layout::MatrixAccess *matrices,
                mlir::Value base);
/// Writes registers of which `offsets` says where each lies, in elements from `base` on.
void writeElements(Core &core, const Registers &regs, const layout::LinearLayout &offsets,
                   mlir::Value base);
/// Writes a block row by row; its first `limit` elements.
void writeRowMajor(Core &core, mlir::Value block, mlir::Value base, int64_t limit);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_CORE_SHAREDACCESS_H
