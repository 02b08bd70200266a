//===- ForwardStores.h - numbers that a program stores and loads again -----===//
#ifndef TILE_PASSES_TILE_FORWARDSTORES_H
#define TILE_PASSES_TILE_FORWARDSTORES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// What `forwardStores` has done.
struct Forwarded {
  unsigned loads = 0;  ///< loads that are what is known to be there
  unsigned stores = 0; ///< stores that another one writes over before anybody reads them
};

/// Takes what `kernel` has stored as single numbers, or loaded, in place of loading it from there
/// again. `left` are registers for what loops then carry; it becomes what is left of them.
Forwarded forwardStores(mlir::func::FuncOp kernel, int64_t &left);

} // namespace tile

#endif // TILE_PASSES_TILE_FORWARDSTORES_H
