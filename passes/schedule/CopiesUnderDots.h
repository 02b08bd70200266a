//===- CopiesUnderDots.h - copies issued under a product ------------------===//
#ifndef TILE_PASSES_SCHEDULE_COPIESUNDERDOTS_H
#define TILE_PASSES_SCHEDULE_COPIESUNDERDOTS_H
#include "ir/CtaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Issues the first product of a turn of `loop` in front of the copies that the threads start for
/// a later turn; false, and nothing changed, if there are none, or they are for the next turn.
bool issueCopiesUnderDots(mlir::scf::ForOp loop);

/// Moves `dot` there, as far as what it reads allows; false, and nothing changed, otherwise.
bool issueBeforeCopies(cta::WarpgroupDotOp dot);

/// Moves `wait` behind the copies that follow it, which need not wait for a product.
void waitBehindCopies(cta::WarpgroupWaitOp wait);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_COPIESUNDERDOTS_H
