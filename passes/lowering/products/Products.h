//===- Products.h - matrix products of warps and of threads -----*- C++ -*-===//
//
// `tile.dot` on operands in registers, or still in shared memory, from where they are taken step by
// step. Which of three ways a product goes is said by its layouts (DotLayouts.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_PRODUCTS_PRODUCTS_H
#define TILE_PASSES_LOWERING_PRODUCTS_PRODUCTS_H

#include "passes/lowering/rings/SharedReads.h"

namespace tile::lowering {

class Products {
public:
  Products(Core &core, SharedReads &reads) : core(core), in(core.in), b(core.b), reads(reads) {}

  mlir::LogicalResult lower(DotOp op);

private:
  mlir::LogicalResult multiplyAdd(DotOp op);

  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
  SharedReads &reads;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_PRODUCTS_PRODUCTS_H
