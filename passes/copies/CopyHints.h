//===- CopyHints.h - what accesses ask of the caches, asked by copies -----===//
//
// A load or store may name a cache modifier or an eviction policy. The copy that
// replaces it asks for the same:
//
//   evict_first, evict_last   a policy of the second cache
//   .cs (read once)           as evict_first
//   .ca, .wb                  as without; whole copies by threads enter the first cache
//   .cg (not the first)       copies of 16 bytes and those by hardware; no smaller ones
//   .cv, .wt (memory itself)  no copy
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_COPIES_COPYHINTS_H
#define TILE_PASSES_COPIES_COPYHINTS_H

#include "ir/CtaDialect.h"

namespace tile {

/// What threads copy at once past the first cache; copies by hardware never enter it.
inline constexpr unsigned kWholeCopyBytes = 16;

/// Whether a copy, of so many bytes at once, can ask for what `load` does.
bool canKeepHints(LoadOp load, unsigned bytesAtOnce = kWholeCopyBytes);
bool canKeepHints(StoreOp store);

/// Makes `copy` ask for it.
void keepHints(LoadOp load, mlir::Operation *copy);
void keepHints(StoreOp store, cta::TmaStoreOp copy);

} // namespace tile

#endif // TILE_PASSES_COPIES_COPYHINTS_H
