//===- CopyHints.cpp - what accesses ask of the caches, asked by copies ---===//
#include "passes/copies/CopyHints.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;

bool tile::canKeepHints(LoadOp load, unsigned bytesAtOnce) {
  switch (load.getCache()) {
  case CacheModifier::cv:
  case CacheModifier::wt:
    return false;
  case CacheModifier::cg:
    return bytesAtOnce >= kWholeCopyBytes;
  default:
    return true;
  }
}

bool tile::canKeepHints(StoreOp store) {
  return store.getCache() != CacheModifier::wt && store.getCache() != CacheModifier::cv;
}

static void setPolicy(CacheModifier cache, EvictionPolicy evict, Operation *copy) {
  if (evict == EvictionPolicy::normal && cache == CacheModifier::cs)
    evict = EvictionPolicy::evict_first;
  if (evict != EvictionPolicy::normal)
    copy->setAttr(cta::kEvictAttr, EvictionPolicyAttr::get(copy->getContext(), evict));
}

void tile::keepHints(LoadOp load, Operation *copy) {
  setPolicy(load.getCache(), load.getEvict(), copy);
  if (load.getCache() == CacheModifier::ca && isa<cta::AsyncCopyOp>(copy))
    copy->setAttr(cta::kReadByOthersAttr, UnitAttr::get(copy->getContext()));
}

void tile::keepHints(StoreOp store, cta::TmaStoreOp copy) {
  setPolicy(store.getCache(), store.getEvict(), copy);
}
