//===- WarpgroupDot.h - matrix products of a warpgroup ----------*- C++ -*-===//
//
// Each warpgroup computes 64-row blocks of the result from operands that the
// hardware reads from shared memory by descriptor (or, on the left, from
// registers). A product's result may be read behind its wait alone, which gives it a value of its
// own; until then the registers are the hardware's.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_PRODUCTS_WARPGROUPDOT_H
#define TILE_PASSES_LOWERING_PRODUCTS_WARPGROUPDOT_H

#include "passes/lowering/rings/Rings.h"

namespace tile::lowering {

class WarpgroupProducts {
public:
  WarpgroupProducts(Core &core, Rings &rings) : core(core), in(core.in), rings(rings) {}

  void lower(cta::WarpgroupDotOp op);
  void lower(cta::WarpgroupWaitOp op);

private:
  class Product;
  /// The result of an earlier product of the same block that nobody needs any more, for once; null
  /// if there is none.
  mlir::Value takeSpent(cta::WarpgroupDotOp op);

  Core &core;
  Instructions &in;
  Rings &rings;
  /// Results of products whose registers later ones have.
  llvm::DenseSet<mlir::Value> reused;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_PRODUCTS_WARPGROUPDOT_H
