//===- SharedReads.h - blocks that are read from buffers --------*- C++ -*-===//
//
// A product by matrix instructions wants its operands a step at a time: what it
// reads from a buffer is loaded where it is first needed, so that one step's
// registers are dead before the next but one is loaded. Everything else reads
// the whole block at once, and has it in the core's registers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_RINGS_SHAREDREADS_H
#define TILE_PASSES_LOWERING_RINGS_SHAREDREADS_H

#include "passes/lowering/core/SharedAccess.h"
#include "passes/lowering/rings/Rings.h"

namespace tile::lowering {

class SharedReads {
public:
  SharedReads(Core &core, const Rings &rings) : core(core), in(core.in), rings(rings) {}

  void lower(cta::ReadOp op);
  /// Whether the block is, or is another name of one that is, still in shared memory.
  bool isShared(mlir::Value operand) const;
  /// `result` is another name of its operation's operand, which is still in shared memory: for each
  /// register that of the operand.
  void rename(mlir::Value result, llvm::SmallVector<int> registers) {
    renamed[result] = std::move(registers);
  }
  /// A register of a block, loaded now if it is still in shared memory.
  mlir::Value element(mlir::Value v, unsigned reg);

private:
  Core &core;
  Instructions &in;
  const Rings &rings;
  llvm::DenseMap<mlir::Value, SharedBlock> blocks;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> renamed;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_RINGS_SHAREDREADS_H
