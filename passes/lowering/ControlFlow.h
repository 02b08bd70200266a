//===- ControlFlow.h - structured loops and branches to blocks -*- C++ -*-===//
//
// A block that is carried becomes one block argument for each register. What is inside is lowered
// through the core.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_CONTROLFLOW_H
#define TILE_PASSES_LOWERING_CONTROLFLOW_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

class ControlFlow {
public:
  explicit ControlFlow(Core &core) : core(core), in(core.in), b(core.b) {}

  mlir::LogicalResult lower(mlir::scf::ForOp op);
  mlir::LogicalResult lower(mlir::scf::WhileOp op);
  mlir::LogicalResult lower(mlir::scf::IfOp op);

private:
  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_CONTROLFLOW_H
