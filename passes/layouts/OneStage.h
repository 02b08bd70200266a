//===- OneStage.h - one copy in shared memory for products in two orders --===//
#ifndef TILE_PASSES_LAYOUTS_ONESTAGE_H
#define TILE_PASSES_LAYOUTS_ONESTAGE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// What warpgroups multiply as it is and transposed (`dot(k, trans(k))`) is written to shared
/// memory once, where the hardware reads one copy in both orders. How many copies that saves.
unsigned stageOnce(mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_ONESTAGE_H
