//===- Homes.h - what decides where blocks live ---------------------------===//
#ifndef TILE_PASSES_LAYOUTS_HOMES_H
#define TILE_PASSES_LAYOUTS_HOMES_H

#include "ir/CtaDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace tile {

/// Null: not a block.
mlir::RankedTensorType blockType(mlir::Value value);
/// With one result, which is a block.
bool isElementwise(mlir::Operation *op);
/// Whether matrix products are computed in the loop that `op` stands in.
bool isAmongProducts(mlir::Operation *op);
/// Whether `op`, in no loop with products, works on what a later product multiplies: scores of an
/// attention whose rows are one block.
bool isBeforeProduct(mlir::Operation *op);
/// Whether all that becomes of `value`, element by element, is stored by TMA, which takes it from
/// any layout.
bool isStoredByTma(mlir::Value value);
/// Whether `op` widens elements, or is another name for what was widened: computing that again in
/// another layout moves less than its result would.
bool isWideningRenamed(mlir::Operation *op);
/// Whether a block was narrower before it was widened: so it moves between threads.
bool isWidened(mlir::Value value);
/// Whether a block, perhaps changed element by element or with a dimension more, is stored and
/// needed for nothing else.
bool isOnlyStored(mlir::Value value, unsigned depth = 0);
/// Whether products multiply all that becomes of `value`, and nothing that one gave goes into that:
/// where results are is none of its business, though they may have its shape.
bool becomesOperands(mlir::Value value, unsigned depth, unsigned &budget);

/// Elements that a thread holds in a layout.
inline int64_t registersOf(cta::LayoutAttr l) { return l.getLayout().inSize(layout::Dim::reg()); }
/// What computing `op` again costs, in simple instructions; nothing for what should never be
/// computed twice.
std::optional<unsigned> costOfRecomputing(mlir::Operation *op);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_HOMES_H
