//===- MemoryOrder.h - what the order of an atomic operation says ----------===//
#ifndef TILE_PASSES_FACTS_MEMORYORDER_H
#define TILE_PASSES_FACTS_MEMORYORDER_H

#include "ir/TileDialect.h"

namespace tile {

/// Whether what the program wrote before is seen by who sees the update.
inline bool releases(MemSemantic sem) {
  return sem == MemSemantic::release || sem == MemSemantic::acq_rel;
}

/// Whether what others wrote before their updates is seen behind this one.
inline bool acquires(MemSemantic sem) {
  return sem == MemSemantic::acquire || sem == MemSemantic::acq_rel;
}

} // namespace tile

#endif // TILE_PASSES_FACTS_MEMORYORDER_H
