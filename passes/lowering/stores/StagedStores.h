//===- StagedStores.h - blocks to shared memory, and from there by TMA -*- C++ -*-===//
//
// Registers are written where a swizzled tile has them, in parts where the staging
// area is smaller than the block; copies take what is there to global memory. What is only staged
// is for products; the barrier behind it is here, unless one that follows does for it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_STORES_STAGEDSTORES_H
#define TILE_PASSES_LOWERING_STORES_STAGEDSTORES_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

class StagedStores {
public:
  explicit StagedStores(Core &core) : core(core), in(core.in) {}

  void lower(cta::StageOp op);
  void lower(cta::FillOp op);
  void lower(cta::TmaStoreOp op);
  /// Where the kernel ends.
  void finish();

private:
  Core &core;
  Instructions &in;
  bool areCopied = false; ///< some blocks, by the tensor memory accelerator
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_STORES_STAGEDSTORES_H
