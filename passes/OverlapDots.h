//===- OverlapDots.h - products in flight across iterations ---*- C++ -*-===//
#ifndef TILE_PASSES_OVERLAPDOTS_H
#define TILE_PASSES_OVERLAPDOTS_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// On a loop (unit): the slot that an iteration's products read is filled again two
/// iterations later, not in the next one.
inline constexpr llvm::StringLiteral kSpareSlotAttr = "cta.spare_slot";

/// Whether products of one loop should be in flight from one iteration to the next: not
/// where several warpgroups with long products take turns anyway.
bool gainsFromFlight(llvm::ArrayRef<cta::WarpgroupDotOp> dots);

/// The accumulator goes round the loop and is seen by nobody else.
bool onlyAddsUp(cta::WarpgroupDotOp dot, mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_OVERLAPDOTS_H
