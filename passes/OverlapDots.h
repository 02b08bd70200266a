//===- OverlapDots.h - products in flight across iterations ---*- C++ -*-===//
#ifndef TILE_PASSES_OVERLAPDOTS_H
#define TILE_PASSES_OVERLAPDOTS_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// On a loop (unit): the slot that an iteration's products read is filled again two
/// iterations later, not in the next one.
inline constexpr llvm::StringLiteral kSpareSlotAttr = "cta.spare_slot";

/// Registers of a thread that blocks may take where results are used under the next
/// product.
inline constexpr int64_t kMostRegistersUnderProducts = 212;
/// Iterations that run together there. The result of the last is used while nothing is
/// in flight, but more of them did not make a product of 8-bit floats faster.
inline constexpr unsigned kTurnsUnderProducts = 4;

/// What can be done with a product while another is under way.
bool isElementByElement(mlir::Operation *op);

/// Registers of a thread that a value of this type takes.
int64_t registersOf(mlir::Type type);

/// Whether products of one loop should be in flight from one iteration to the next: not
/// where several warpgroups with long products take turns anyway.
bool gainsFromFlight(llvm::ArrayRef<cta::WarpgroupDotOp> dots);

/// The accumulator goes round the loop and is seen by nobody else.
bool onlyAddsUp(cta::WarpgroupDotOp dot, mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_OVERLAPDOTS_H
