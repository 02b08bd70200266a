//===- Roles.h - warps that compute, and a warp that copies -----*- C++ -*-===//
//
// One branch at the start of the kernel, on which side a thread stays; and what one thread does
// for all. What the two sides do is lowered through the core.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_RINGS_ROLES_H
#define TILE_PASSES_LOWERING_RINGS_ROLES_H

#include "passes/lowering/rings/GroupTurns.h"

namespace tile::lowering {

class Roles {
public:
  Roles(Core &core, GroupTurns &turns) : core(core), in(core.in), b(core.b), turns(turns) {}

  mlir::LogicalResult lower(cta::RolesOp op);
  /// One thread does it. Copies alone are a warp's, of which one lane starts them: with no lane on
  /// a way of its own, what the warp computes with stays in uniform registers.
  mlir::LogicalResult lower(cta::SingleOp op);

private:
  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
  GroupTurns &turns;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_RINGS_ROLES_H
