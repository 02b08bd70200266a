//===- Dialects.h - what a module may hold, at any step --------------------===//
#ifndef TILE_TOOLS_DIALECTS_H
#define TILE_TOOLS_DIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace tile {

/// For the tools that read modules as text: `tile-opt`, `tile-reduce`.
void registerAllDialects(mlir::DialectRegistry &registry);

} // namespace tile

#endif // TILE_TOOLS_DIALECTS_H
