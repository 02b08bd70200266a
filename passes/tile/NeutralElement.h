//===- NeutralElement.h - what a combiner leaves everything as it is with -===//
#ifndef TILE_PASSES_TILE_NEUTRALELEMENT_H
#define TILE_PASSES_TILE_NEUTRALELEMENT_H

#include "ir/TileDialect.h"

namespace tile {

/// What a combiner of one operation leaves everything as it is with; null if it is not known.
mlir::TypedAttr neutralElement(mlir::Block &combiner, mlir::Type type);

} // namespace tile

#endif // TILE_PASSES_TILE_NEUTRALELEMENT_H
