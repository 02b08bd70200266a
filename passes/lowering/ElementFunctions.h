//===- ElementFunctions.h - functions of elements: own, foreign, PTX -*- C++ -*-===//
//
// What an author runs on each element, or on some at a time: a body of the kernel's own operations,
// a function of a library that is linked in, or instructions as text.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_ELEMENTFUNCTIONS_H
#define TILE_PASSES_LOWERING_ELEMENTFUNCTIONS_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

class ElementFunctions {
public:
  explicit ElementFunctions(Core &core) : core(core), in(core.in), b(core.b) {}

  mlir::LogicalResult lower(MapElementwiseOp op);
  void lower(ExternElementwiseOp op);
  mlir::LogicalResult lower(InlineAsmOp op);

private:
  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_ELEMENTFUNCTIONS_H
