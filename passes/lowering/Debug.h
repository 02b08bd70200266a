//===- Debug.h - printing and assertions ----------------*- C++ -*-===//
//
// A block is printed by the first thread alone, so that its lines come in order and whole. In
// functions of elements the threads speak that the core says.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_DEBUG_H
#define TILE_PASSES_LOWERING_DEBUG_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

class Debugging {
public:
  explicit Debugging(Core &core) : core(core), in(core.in), b(core.b) {}

  void lower(AssertOp op);
  void lower(PrintOp op);

private:
  void printBlock(PrintOp op, unsigned operand, mlir::Value base);

  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_DEBUG_H
