//===- SplitColumns.h - products of 192 or 320 columns in parts -----------===//
#ifndef TILE_PASSES_SPLITCOLUMNS_H
#define TILE_PASSES_SPLITCOLUMNS_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace tile {

std::unique_ptr<mlir::Pass> createSplitColumnsPass();

} // namespace tile

#endif // TILE_PASSES_SPLITCOLUMNS_H
