//===- Shape.h - ranges and data movement within a thread -*- C++ -*-===//
//
// The layout pass has given operand and result layouts that agree on lanes and warps, so each
// operation only renames registers; blocks that are still in shared memory get another name there.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_SHAPE_H
#define TILE_PASSES_LOWERING_SHAPE_H

#include "passes/lowering/rings/SharedReads.h"

namespace tile::lowering {

class Movements {
public:
  Movements(Core &core, SharedReads &reads) : core(core), in(core.in), b(core.b), reads(reads) {}

  void lower(MakeRangeOp op);
  /// Splat, unsplat, broadcast, expand_dims, reshape, trans, join and split.
  mlir::LogicalResult lowerMovement(mlir::Operation *op);

private:
  mlir::LogicalResult split(SplitOp op);

  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
  SharedReads &reads;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_SHAPE_H
