//===- ProductFacts.h - what can be done around warpgroup products --------===//
#ifndef TILE_PASSES_FACTS_PRODUCTFACTS_H
#define TILE_PASSES_FACTS_PRODUCTFACTS_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// What can be done with a product while another is under way.
bool isElementByElement(mlir::Operation *op);

/// Whether products of one loop should be in flight from one iteration to the next: not
/// where several warpgroups with long products take turns anyway.
bool gainsFromFlight(llvm::ArrayRef<cta::WarpgroupDotOp> dots);

/// The accumulator goes round the loop and is seen by nobody else.
bool onlyAddsUp(cta::WarpgroupDotOp dot, mlir::scf::ForOp loop);

} // namespace tile

#endif // TILE_PASSES_FACTS_PRODUCTFACTS_H
