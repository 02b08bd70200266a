//===- CarriedSums.h - sums of blocks, as narrow as what is left -*- C++ -*-===//
//
// A loop that adds blocks to a block, of which only a sum along an axis is wanted behind it,
// need not carry more than each thread's part of that sum: the rows that a thread holds are
// added up in each turn. It takes as many additions, and fewer registers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_SCHEDULE_CARRIEDSUMS_H
#define TILE_PASSES_SCHEDULE_CARRIEDSUMS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Narrows result `number` of a laid-out loop. False: it is none of these, or a thread holds but
/// one of the elements that are added up.
bool narrowCarriedSum(mlir::scf::ForOp loop, unsigned number);

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_CARRIEDSUMS_H
