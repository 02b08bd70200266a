//===- TensorStores.h - stores of whole tiles by TMA ----------------------===//
#ifndef TILE_PASSES_COPIES_TENSORSTORES_H
#define TILE_PASSES_COPIES_TENSORSTORES_H

#include "passes/copies/TensorMaps.h"
#include "passes/facts/Refusals.h"

namespace tile {

class TensorStores {
public:
  TensorStores(mlir::func::FuncOp kernel, StridedAnalysis &analysis, bool checked)
      : kernel(kernel), analysis(analysis), checked(checked) {}
  /// Makes a store a copy out of shared memory, if that is possible and worth it; or says why not.
  /// `isAlone`: nothing else accesses what it writes.
  bool rewrite(mlir::Operation *store, bool isAlone);

private:
  std::optional<TileAccess> read(mlir::Operation *store, llvm::ArrayRef<int64_t> shape,
                                 Reason &reason);

  mlir::func::FuncOp kernel;
  StridedAnalysis &analysis;
  bool checked; ///< the launcher checks what copies rely on
};

} // namespace tile

#endif // TILE_PASSES_COPIES_TENSORSTORES_H
