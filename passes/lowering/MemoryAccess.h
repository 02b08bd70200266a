//===- MemoryAccess.h - pointers, loads, stores, atomics -*- C++ -*-===//
//
// The layout pass promises on each access how many consecutive elements form an aligned group
// (`vector`) and that such groups are consecutive registers. Masks become predicates, never
// branches. Where several threads hold copies of an element, one of them stores or updates it; what
// only that one has read is handed to the others through scratch memory that the operation has been
// given.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_MEMORYACCESS_H
#define TILE_PASSES_LOWERING_MEMORYACCESS_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

class MemoryAccesses {
public:
  explicit MemoryAccesses(Core &core) : core(core), in(core.in), b(core.b) {}

  void lower(AddPtrOp op);
  mlir::LogicalResult lower(LoadOp op);
  void lower(StoreOp op);
  /// `tile.atomic_rmw` and `tile.atomic_cas`.
  mlir::LogicalResult lowerAtomic(mlir::Operation *op);

private:
  mlir::Value wholeGroup(const Registers &mask, unsigned first, unsigned group);
  mlir::LogicalResult shareVolatile(LoadOp op, Registers &regs);
  Registers updateElements(AtomicRmwOp op, const Registers &ptrs, int32_t copies,
                           mlir::Value owner);
  mlir::Value atomicLoop(AtomicRmwOp op, mlir::Value ptr, mlir::Value value, mlir::Value predicate);
  mlir::LogicalResult shareResults(mlir::Operation *op, Registers &regs,
                                   mlir::RankedTensorType block, mlir::Value owner);

  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_MEMORYACCESS_H
