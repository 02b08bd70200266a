//===- GroupTurns.h - two groups of consumers, one after the other -*- C++ -*-===//
//
// Each group waits at a named barrier of its own that the other one arrives at when
// its turn ends. Where a ring goes on is told in shared memory.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_RINGS_GROUPTURNS_H
#define TILE_PASSES_LOWERING_RINGS_GROUPTURNS_H

#include "passes/lowering/rings/Rings.h"

namespace tile::lowering {

class GroupTurns {
public:
  GroupTurns(Core &core, Rings &rings) : core(core), in(core.in), b(core.b), rings(rings) {}

  /// As if the second group had ended a turn in every order.
  void open(cta::RolesOp op);
  void lower(cta::TurnBeginOp op);
  void lower(cta::TurnEndOp op);

private:
  mlir::Value barrierOf(uint32_t order, mlir::Value group);
  mlir::Value placeOf(mlir::Value ring, mlir::Value group);

  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
  Rings &rings;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_RINGS_GROUPTURNS_H
