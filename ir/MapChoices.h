//===- MapChoices.h - which tensor maps a copy may read by ---------*- C++ -*-===//
#ifndef TILE_IR_MAPCHOICES_H
#define TILE_IR_MAPCHOICES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace tile::cta {

/// The kernel's parameters that a map may be, of which one is chosen at run time.
llvm::SmallVector<mlir::BlockArgument, 1> mapsBehind(mlir::Value map);

} // namespace tile::cta

#endif // TILE_IR_MAPCHOICES_H
