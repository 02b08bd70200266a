//===- TensorBoxes.h - the boxes that a tensor map moves --------*- C++ -*-===//
#ifndef TILE_PASSES_LOWERING_CORE_TENSORBOXES_H
#define TILE_PASSES_LOWERING_CORE_TENSORBOXES_H

#include "ir/CtaDialect.h"

namespace tile::lowering {

/// What the launcher makes of the map, a parameter of the kernel.
cta::MapAttr mapAttr(mlir::Value map);

/// Calls `body` with the coordinates (map order, relative to the tile) and the
/// byte offset in shared memory of every box that one copy moves.
void forEachBox(cta::MapAttr map, const layout::LinearLayout &image, unsigned bytes,
                llvm::ArrayRef<int32_t> dims,
                llvm::function_ref<void(llvm::ArrayRef<int64_t>, int64_t)> body);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_CORE_TENSORBOXES_H
