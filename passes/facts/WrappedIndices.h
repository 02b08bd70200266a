//===- WrappedIndices.h - whether what indices that wrap lead to is seen --===//
#ifndef TILE_PASSES_FACTS_WRAPPEDINDICES_H
#define TILE_PASSES_FACTS_WRAPPEDINDICES_H

#include "passes/facts/StridedAccess.h"

namespace tile {

/// No store writes what comes from elements of `v` at `first` or beyond along `dim`.
bool isDeadBeyond(mlir::Value v, unsigned dim, const Polynomial &first, StridedAnalysis &analysis);

} // namespace tile

#endif // TILE_PASSES_FACTS_WRAPPEDINDICES_H
