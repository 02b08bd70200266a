//===- AsyncCopy.h - copies to shared memory by the threads -----*- C++ -*-===//
//
// Slots are places in shared memory, one behind the other; threads copy to them (`cp.async`) what
// they hold the addresses of, a number of elements at once, in groups that they wait for in order.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_RINGS_ASYNCCOPY_H
#define TILE_PASSES_LOWERING_RINGS_ASYNCCOPY_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

class AsyncCopies {
public:
  explicit AsyncCopies(Core &core) : core(core), in(core.in), b(core.b) {}

  void lower(cta::SlotsOp op);
  void lower(cta::SlotOp op);
  void lower(cta::AsyncCopyOp op);
  void lower(cta::AsyncCommitOp) { in.copyAsyncCommit(); }
  void lower(cta::AsyncWaitOp op);

private:
  mlir::Value bytesRead(cta::AsyncCopyOp op, unsigned first, unsigned bytes);

  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_RINGS_ASYNCCOPY_H
